"""Slides of the authors of flipped-huber-2023."""
