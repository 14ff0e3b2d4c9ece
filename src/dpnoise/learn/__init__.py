"""Learning under differential privacy: problems, optima, coordinate descent, estimators, audit."""
