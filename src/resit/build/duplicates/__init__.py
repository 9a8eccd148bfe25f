"""Near-duplicates: the nearest images of each candidate, the pairs that people look at, and what their verdicts mean."""
