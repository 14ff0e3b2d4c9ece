"""Result tables of flipped-huber-2023."""
