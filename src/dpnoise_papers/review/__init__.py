"""The page for reviewers: every printed number with its verdict beside its figure, in one file."""
