"""Figures and pages of inid-2024."""
