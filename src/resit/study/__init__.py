"""The questions: each study takes what models answered and returns one Result."""
