"""A run as a whole: what came out of it, and from what."""
