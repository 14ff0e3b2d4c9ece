"""The version of both distributions, `dpnoise` and `dpnoise-papers`: read by their builds too."""

__version__ = "0.1.0"
