"""Certificates of privacy: files that say what was proved, and their verification."""
