"""Table III of flipped-huber-2023: private coordinate descent, replicated."""
