"""Figures, drawn from tidy tables only: no figure imports an experiment."""
