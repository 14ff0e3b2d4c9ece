"""Proof, by intervals of shapes, that no noise of a family has less variance."""
