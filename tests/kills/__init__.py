"""Random kills of a run, which must resume to the same bytes: `make kills`."""
