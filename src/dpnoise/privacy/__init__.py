"""Privacy profiles of noise distributions and zero-concentrated bounds."""
