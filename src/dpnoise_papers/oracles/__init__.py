"""References at high precision that share nothing with the library: for `make verify` and tests."""
