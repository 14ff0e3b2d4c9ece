"""Sensitivity sets: what one person can change in a vector of answers (docs/sensitivity.md)."""
