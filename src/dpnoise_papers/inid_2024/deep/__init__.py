"""Deep learning with noise by layer: Section VI-C and Table IV of inid-2024."""
