"""References for checks, by `make verify` and by the tests, which share nothing with `dpnoise`.

They take plain numbers or the pieces of a density, and import nothing of the library. `densities`
are symmetric densities in doubles, by quadrature, and `minima` searches them for the minimum
variance; `exact` has the same densities, powers and staircases with any digits, `integers` noise
on the integers; `gaussian` proves the Gaussian profile in ball arithmetic, `samples` one step on a
Poisson sample; `printed` is what flipped-huber-2023 prints of its profile.
"""
