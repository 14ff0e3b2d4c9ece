"""What goes beyond the papers: joint noise beside theirs, and the map 'which noise when'."""
