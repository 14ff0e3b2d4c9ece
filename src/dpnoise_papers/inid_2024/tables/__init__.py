"""Result tables of inid-2024."""
