"""Counts of taxi events at the junctions of a city."""
