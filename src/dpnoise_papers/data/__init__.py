"""Data sets of the papers: where they come from, what they must contain, how to get one."""
