"""Exact privacy profiles of one coordinate, by kind of density."""
