"""Intervals, line fits, bootstraps, ranks and power: arrays in, arrays or frozen records out; no file, no frame, no print."""
