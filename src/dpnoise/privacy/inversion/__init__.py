"""Two-sided bounds on the profile of several coordinates, by inversion of a transform."""
