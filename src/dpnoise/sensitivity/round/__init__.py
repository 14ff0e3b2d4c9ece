"""Sets that are linear images of the Euclidean ball and whose axes are not the coordinates'."""
