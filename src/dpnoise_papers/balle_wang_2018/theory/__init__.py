"""Numerical checks of the statements of balle-wang-2018."""
