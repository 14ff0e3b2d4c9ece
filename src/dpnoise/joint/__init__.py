"""Joint noise: dependent coordinates, shaped by the sensitivity set (docs/joint-noise.md)."""
