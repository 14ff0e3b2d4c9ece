"""One privacy budget spent on many coordinates, by sensitivity and by the error that counts."""
