"""What the papers print, as data, and whether it holds."""
