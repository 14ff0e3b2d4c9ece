"""References of the tests, with any digits or proved, beside those of `dpnoise_papers.verify`."""
