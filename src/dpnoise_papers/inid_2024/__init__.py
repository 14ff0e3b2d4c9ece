"""Muthukrishnan & Kalyani, Differential privacy with higher utility (2024).

By exploiting coordinate-wise disparity, as the title goes on.
"""
