"""For reviewers: outcome and provenance of a run, and a page with every printed number."""
