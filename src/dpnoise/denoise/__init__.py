"""Denoising a private release: shrinkage, thresholds, wavelets and trend filtering on graphs."""
