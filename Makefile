# make reproduce   everything the papers print, recomputed, with verdicts (results/, figures/)
#                  with RUN=mine into runs/mine/ instead, with CONFIG=mine.yaml by other settings
# make test        the tests             make test-all   all that CI leaves out, if it was touched
# make help        this list
# make fuzz        random, round and coinciding parameters against independent accounts
#                  (SECONDS=60, SEED=the config's)
# make deep        training in deep learning (Table IV of inid-2024) on scikit-learn's digits, in an
#                  environment of its own with PyTorch, .venv-deep; a later make reproduce counts it
# make deep_cifar10  the same at the paper's scale, for a GPU   make test-deep  its tests
# make gpu_visit MINUTES=25  as many cells of deep_cifar10 as that allows, to go on another time; PYTHON
#                  is an interpreter with the extra deep and a PyTorch for the GPU
# make kills       random kills of a small run, which must resume to the same bytes
#                  (KILLS=24, SEED=the config's)
# make unlock      after a run that was killed: 'Directory cannot be locked'
# make slurm       the pipeline through a SLURM cluster of two nodes on this machine (as root, with
#                  Debian's slurm-wlm and munge), 3 minutes
# make quick       the same pipeline in minutes at a small scale, kept apart in quick/
# make readme      records a run: docs/snapshot, and from it the numbers of README.md and
#                  docs/fairness.md, docs/summary/, docs/report.html and the images in docs/
# make look        every figure of a run by rule: no clipped text, none struck through; RUN=
# make report      report.html: every printed number with its verdict beside its figure, in one
#                  file that opens without network
# make provenance  provenance.html: rules, code and times of a run as Snakemake shows them
# make verify      a random tenth of the claims without noise, recomputed by independent paths
#                  (quadrature, Arb, searches) in at most 5 minutes; RUN=, CONFIG=, SEED=, SHARE=0.1
#                  (all with SHARE=1, overnight); MUTATE=1 changes the cells behind claims instead, and the
#                  verdicts have to change
# make docs        the documentation as a site, site/index.html, without warnings or not at all
# make crate       ro-crate-metadata.json (RO-Crate 1.1) of the last run; RUN=, CONFIG=
# make lint        style, types, layers and docstrings     make bench   speed beside a peer
# make clean       nothing but the sources, the downloads, .venv, .venv-deep and checkpoints/ (of
#                  training for hours on a GPU); remove these three by hand
#
# CORES=4 sets the number of cores (default: all); PYTHON=python3.12 the interpreter.

PYTHON ?= python3
CORES ?= all
SECONDS ?= 60
KILLS ?= 24
BIN := .venv/bin
RUNS := .venv/runs
READY := .venv/ready
DEEP := .venv-deep/bin
DEEP_READY := .venv-deep/ready

.PHONY: provenance reproduce help look test test-all slurm fuzz kills unlock quick readme report verify docs crate lint bench lock clean test-deep \
    deep deep_cifar10 gpu_visit cifar10
.DELETE_ON_ERROR:

# Snakemake and Matplotlib keep caches in the home folder; where that cannot be written, here.
HOME_CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)
ifneq ($(shell mkdir -p "$(HOME_CACHE)/snakemake" 2>/dev/null && test -w "$(HOME_CACHE)/snakemake" && echo yes),yes)
export XDG_CACHE_HOME := $(CURDIR)/.snakemake/cache
endif

SETTINGS = $(if $(CONFIG),--configfile $(CONFIG)) $(if $(RUN),--config folder=runs/$(RUN))
OWN = $(if $(RUN),runs/$(RUN)/)
# Snakemake reads a config file itself, without a limit, and answers a wrong name with its traceback.
CHECKED = $(if $(CONFIG),$(1)/dpnoise-papers config check config.yaml $(CONFIG))
MINUTES = 6
reproduce: $(RUNS)
	$(call CHECKED,$(BIN))
	@test -e $(OWN)results/verdicts.md || echo "make: no complete run in $(OWN)results: everything is computed first," \
	    "which takes about $(MINUTES) minutes on two cores"
	$(BIN)/snakemake --cores $(CORES) $(SETTINGS) || code=1; echo "Read $(OWN)results/verdicts.md"; \
	$(BIN)/dpnoise-papers outcome $(CONFIG) $(if $(RUN),--folder runs/$(RUN)) && exit $$code

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

test: $(READY)
	$(BIN)/pytest -q -n auto --dist worksteal --durations 15

test-all: $(READY)
	.ci/test-all $(SINCE)

slurm: $(READY)
	DPNOISE_SLURM=1 $(BIN)/pytest -q -rs --durations 10 tests/slurm

fuzz: $(READY)
	PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# Before PyTorch is installed: the images that only people can fetch.
cifar10: $(READY)
	@$(BIN)/dpnoise-papers data fetch cifar10

deep: $(DEEP_READY)
deep_cifar10: cifar10 $(DEEP_READY)
# What checkpoints have grown to is no file that Snakemake knows: cells are read from them anew.
deep_cifar10: ANEW = --forcerun inid_2024_table_4_cifar10_cells
deep deep_cifar10:
	$(call CHECKED,$(DEEP))
	$(DEEP)/snakemake --cores $(CORES) $@ $(ANEW) $(if $(CONFIG),--configfile $(CONFIG)) $(if $(RUN),--config folder=runs/$(RUN))
	@echo "The next make reproduce counts its tables in results/verdicts.md"

# Without an environment of our own, which has no PyTorch for a GPU.
gpu_visit:
	PYTHONPATH=src $(PYTHON) -c 'import sys; from dpnoise_papers.cli import main; sys.exit(main())' \
	    gpu-visit --minutes $(MINUTES) $(CONFIG)

test-deep: $(DEEP_READY)
	$(DEEP)/pytest -q -n auto --dist worksteal tests/dpnoise_papers/test_item.py \
	    tests/dpnoise_papers/inid_2024/deep tests/dpnoise_papers/inid_2024/table_4

look: $(READY)
	DPNOISE_RESULTS=$(OWN)results $(BIN)/pytest -q -n auto tests/of_run

kills: $(READY)
	PYTHONPATH=tests $(BIN)/python -m kills --kills $(KILLS) $(if $(SEED),--seed $(SEED))

# Only after a look that no other run is alive in this folder.
unlock: $(RUNS)
	$(BIN)/snakemake --unlock

quick: $(RUNS)
	$(BIN)/snakemake --cores $(CORES) --configfile config.quick.yaml

readme: report
	$(BIN)/python -m dpnoise_papers.claims.findings docs published results figures
	cp $(OWN)report.html docs/report.html

report: reproduce
	$(BIN)/snakemake $(OWN)report.html --cores 1 $(SETTINGS)
	@echo "Open $(OWN)report.html"

provenance: reproduce
	$(BIN)/snakemake --cores 1 $(SETTINGS) --report $(OWN)provenance.html --report-metadata workflow/report/metadata.yaml
	@echo "Open $(OWN)provenance.html"

verify: $(RUNS)
	$(BIN)/dpnoise-papers verify $(CONFIG) $(if $(RUN),--folder runs/$(RUN)) $(if $(SEED),--seed $(SEED)) $(if $(SHARE),--share $(SHARE)) $(if $(MUTATE),--mutate)

docs: $(READY)
	rm -rf docs/api
	$(BIN)/sphinx-build -q -E -W --keep-going -b html docs site
	@echo "Open site/index.html"

crate: $(RUNS)
	$(BIN)/dpnoise-papers codecheck codecheck.yml
	$(BIN)/dpnoise-papers crate $(CONFIG) $(if $(RUN),--folder runs/$(RUN))

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/numpydoc lint $$(find src -name '*.py')
	$(BIN)/snakefmt --check Snakefile
	$(BIN)/snakemake --lint

bench: $(READY)
	$(BIN)/python benchmarks/dpcd.py
	$(BIN)/python benchmarks/privacy.py
	$(BIN)/python benchmarks/gaussian.py
	$(BIN)/python benchmarks/allocation.py
	$(BIN)/python benchmarks/peers
	$(BIN)/python benchmarks/over_k

# The environments: exactly the files whose hashes are in a lock. .venv is made for the pipeline, and
# completed for developers by the first target that needs it.
RUNS_LOCK := $(firstword $(wildcard requirements-run.lock) requirements.lock)
INSTALL = $(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile
# On all cores, as pip does not, and without the tests of packages, a third of all code.
COMPILED = $(@D)/bin/python -m compileall -qq -j 0 -x '/site-packages/.*/tests/'
$(RUNS) $(DEEP_READY): pyproject.toml papers/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("make: Python >= 3.11 needed, found " + sys.version.split()[0] + " (set PYTHON=...)") if sys.version_info < (3, 11) else None'
	rm -rf $(@D)
	$(PYTHON) -m venv $(@D)
	$(INSTALL) --require-hashes -r $(filter %.lock,$^) \
	    || { echo $(if $(filter $@,$(DEEP_READY)),$(NO_WHEEL),"make: not every file of $(RUNS_LOCK) could be had") >&2; exit 1; }
	$(INSTALL) --no-deps --no-build-isolation -e . -e ./papers
	$(COMPILED) $(@D)/lib src || true
	$(@D)/bin/python -c 'import doctest; from dpnoise.learn import cd; doctest.testmod(cd)'  # compiles the kernel of the descents, which is kept
	touch $@

$(RUNS): $(RUNS_LOCK)
$(DEEP_READY): requirements-deep.lock
$(READY): $(RUNS) requirements.lock
	$(INSTALL) --require-hashes -r requirements.lock || { echo "make: not every file of requirements.lock could be had" >&2; exit 1; }
	$(COMPILED) $(@D)/lib || true
	touch $@

NO_WHEEL := "make: not every file of requirements-deep.lock could be had. PyTorch's wheel for Linux without CUDA (torch==2.13.0+cpu)" \
    "is not on PyPI but on PyTorch's own index. Set PIP_EXTRA_INDEX_URL to the address that pytorch.org (Get started, Pip, CPU) gives after --index-url."

# For maintainers, needs uv: writes locks with hashes that name no host. For the second, tell uv
# where PyTorch's wheels without CUDA are (UV_TORCH_BACKEND=cpu, or UV_FIND_LINKS=FOLDER); hashes of
# wheels that it does not see there are kept from the lock as it was.
LOCK := --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --strip-extras --quiet
lock:
	uv pip compile pyproject.toml --extra dev $(LOCK) -o requirements.lock
	uv pip compile pyproject.toml --extra pipeline -c requirements.lock $(LOCK) -o requirements-run.lock
	uv pip compile pyproject.toml --extra dev --extra deep -c requirements.lock $(LOCK) -o requirements-deep.lock

clean:
	rm -rf build dist papers/build results figures quick logs site docs/api report.html provenance.html data/prepared .snakemake .pytest_cache .ruff_cache .mypy_cache .hypothesis
