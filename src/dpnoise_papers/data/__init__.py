"""The data sets of the papers: where they come from, what they must contain, how to get one.

`load` returns a data set whose content has been verified; `prepare` and `read_prepared`
hand it from one pipeline job to the next. Names are resolved on first use, because the
Snakefile imports `dpnoise_papers.data.retry` whenever it is parsed and must not pay for NumPy.
"""
