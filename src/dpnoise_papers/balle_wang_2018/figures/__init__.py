"""Figures and pages of balle-wang-2018."""
