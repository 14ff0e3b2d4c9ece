"""Two-sided bounds on the profile of several coordinates, by losses rounded to a lattice."""
