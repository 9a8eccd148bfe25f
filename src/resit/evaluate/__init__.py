"""The run: models × benchmarks → Predictions, on one machine or on a cluster."""
