"""Figures and pages of flipped-huber-slides."""
