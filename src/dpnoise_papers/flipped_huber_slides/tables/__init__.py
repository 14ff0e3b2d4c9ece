"""Result tables of flipped-huber-slides."""
