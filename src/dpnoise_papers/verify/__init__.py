"""Recomputation of results by independent paths: `make verify`."""
