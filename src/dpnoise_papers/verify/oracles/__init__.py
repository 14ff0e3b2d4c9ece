"""References for checks, by `make verify` and by the tests, which share nothing with `dpnoise`.

They take plain numbers or the pieces of a density, and import nothing of the library. `densities`
are symmetric densities in doubles, by quadrature, and searches for their minimum variance;
`gaussian` proves the Gaussian profile in ball arithmetic. Those of the tests alone are in
tests/oracles.
"""
