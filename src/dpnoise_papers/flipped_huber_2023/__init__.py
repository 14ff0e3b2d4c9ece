"""Muthukrishnan & Kalyani, Grafting Laplace and Gaussian distributions (IEEE TIFS 2023)."""
