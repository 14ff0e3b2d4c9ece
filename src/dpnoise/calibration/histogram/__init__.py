"""Histogram noise optimised for composition: its search, estimates and certified result."""
