"""Statistical lower bounds on the privacy loss of a sampler."""
