"""Balle & Wang, Improving the Gaussian mechanism for differential privacy (ICML 2018)."""
