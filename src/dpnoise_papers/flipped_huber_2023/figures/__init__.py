"""Figures and pages of flipped-huber-2023."""
