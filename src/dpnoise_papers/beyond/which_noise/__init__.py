"""Which noise when: every mechanism over (K, epsilon, delta) as a table, a map and a page."""
