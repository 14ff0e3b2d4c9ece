"""Muthukrishnan & Kalyani, Differential privacy with higher utility by exploiting coordinate-wise disparity (2024)."""
