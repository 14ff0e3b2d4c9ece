"""From a privacy budget (epsilon, delta) to noise that keeps it."""
