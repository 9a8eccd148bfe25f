"""The steps of a build as people run them: each reads the open build, calls the functions that do the work, and saves."""
