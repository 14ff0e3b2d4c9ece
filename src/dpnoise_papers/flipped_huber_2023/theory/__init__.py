"""Numerical checks of the statements of flipped-huber-2023."""
