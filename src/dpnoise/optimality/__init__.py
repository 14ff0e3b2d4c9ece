"""Lower bounds on the cost of any additive noise, by linear programs."""
