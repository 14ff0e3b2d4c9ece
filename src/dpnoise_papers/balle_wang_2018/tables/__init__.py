"""Result tables of balle-wang-2018."""
