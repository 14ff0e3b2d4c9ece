"""Private coordinate descent over grids of hyper-parameters: settings, runs, names."""
