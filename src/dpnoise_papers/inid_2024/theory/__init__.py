"""Numerical checks of the statements of inid-2024."""
