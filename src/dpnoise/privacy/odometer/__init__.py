"""Several releases of one data set under one privacy budget."""
