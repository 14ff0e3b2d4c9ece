"""Release of query answers with noise whose draws are exact."""
