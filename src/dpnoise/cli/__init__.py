"""The command `dpnoise`: noise and its privacy from a shell."""
