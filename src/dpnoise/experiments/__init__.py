"""The experiments of the papers: settings in, tidy tables out; no files, no plotting."""
