"""Noise on Poisson samples: two-sided bounds on the privacy of many steps."""
