"""Reproduction of three papers on noise for differential privacy."""
