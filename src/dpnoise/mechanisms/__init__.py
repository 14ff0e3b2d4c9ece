"""Every noise mechanism for a sensitivity set, side by side: `compare` and `best`."""
