"""A run as a whole: its settings, targets, surroundings, time left and the origin of its files."""
