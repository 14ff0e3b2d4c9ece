# make reproduce   everything the papers print, recomputed, with verdicts (results/, figures/)
# make test        the tests
# make fuzz        random, round and coinciding parameters against independent accounts
#                  (SECONDS=60, SEED=the config's)
# make quick       the same pipeline in minutes at a small scale, kept apart in quick/
# make readme      the numbers of 'What came out' in README.md, from the last make reproduce
# make report      one HTML page with every figure and table, opens without network
# make lint        style, types, layers and docstrings     make bench   speed beside a peer
# make clean       nothing but the sources and the downloads
#
# CORES=4 sets the number of cores (default: all); PYTHON=python3.12 the interpreter.

PYTHON ?= python3
CORES ?= all
SECONDS ?= 60
BIN := .venv/bin
READY := .venv/ready

.PHONY: reproduce test fuzz quick readme report lint bench lock clean
.DELETE_ON_ERROR:

reproduce: $(READY)
	$(BIN)/snakemake --cores $(CORES)
	@echo "Read results/verdicts.md"

test: $(READY)
	$(BIN)/pytest -q -n auto --dist worksteal --durations 15

fuzz: $(READY)
	PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

quick: $(READY)
	$(BIN)/snakemake --cores $(CORES) --configfile config.quick.yaml

readme: reproduce
	$(BIN)/python -m dpnoise_papers.claims.summary README.md published/what-came-out.md results

report: reproduce
	$(BIN)/snakemake --cores 1 --report report.html
	@echo "Open report.html"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/numpydoc lint $$(find src -name '*.py')
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

bench: $(READY)
	$(BIN)/python benchmarks/dpcd.py
	$(BIN)/python benchmarks/privacy.py
	$(BIN)/python benchmarks/gaussian.py
	$(BIN)/python benchmarks/allocation.py

# The environment: exactly the files whose hashes are in the lock, made anew when it changes.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("make: Python >= 3.11 needed, found " + sys.version.split()[0] + " (set PYTHON=...)") if sys.version_info < (3, 11) else None'
	rm -rf .venv
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

# For maintainers, needs uv: writes a lock with hashes that names no host.
lock:
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
	    --generate-hashes --no-header --no-annotate --strip-extras --quiet -o requirements.lock

clean:
	rm -rf results figures quick logs report.html data/prepared .snakemake .pytest_cache .ruff_cache .mypy_cache .hypothesis
