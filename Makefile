# `make run` serves the app, `make serve` to the local network; `make test` tests it. All make the environment they need.
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
# Compiled files are kept: without them each worker of the tests compiles everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run serve test thorough check unit smoke browser engines interchange pictures notebooks theory docs size bench bench-peers beside chromium servers clean

run: $(VENV)/.run
	$(BIN)/python -m dpbayes --port $(PORT)

# For a class: everybody in this network can look.
serve: $(VENV)/.run
	$(BIN)/python -m dpbayes --class --port $(PORT)

# All three at once: a browser's tests mostly wait, and the others work meanwhile. Each one's output comes at its end.
test:
	$(MAKE) --no-print-directory --jobs=3 --output-sync=target check unit smoke

# Every case where `make test` tries a sample, 1000 examples of each property, and all stories in the browser.
thorough: export HYPOTHESIS_PROFILE := thorough
thorough: check unit browser

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=. $(BIN)/lint-imports

# A worker for each core: more threads for matrices would only stand in each other's way.
unit: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -m "not browser and not engines and not interchange" --ignore=tests/browser

# A story of each kind that only a browser can tell: one server and one browser for all, while `unit` has the cores.
smoke: $(VENV)/.dev chromium
	$(BIN)/python -m pytest -m smoke tests/browser

browser: $(VENV)/.dev chromium
	$(BIN)/python -m pytest -n auto -m browser tests/browser

# A PostgreSQL of its own, Spark on this machine, DuckDB and Parquet count the same tables, and the PostgreSQL keeps
# ledgers, also for two dashboards behind nginx; the tests start and end them.
engines: $(VENV)/.engines servers
	$(BIN)/python -m pytest -m engines -rs tests/engines tests/releases/ledger

# Networks, classifiers and metadata of other packages, which an environment of its own has.
interchange: $(VENV)-interchange/.made
	OPENBLAS_NUM_THREADS=1 $(VENV)-interchange/bin/python -m pytest -m interchange tests/interchange

# The pictures of the documents, of the dashboard as it is.
pictures: $(VENV)/.dev chromium
	$(BIN)/python -m tests.browser.pictures

# The outputs of the notebooks, as the code of today gives them.
notebooks: $(VENV)/.dev
	$(BIN)/python -m tests.notebooks

# The claims of the papers, as the registry of today gives them.
theory: $(VENV)/.dev
	$(BIN)/python -m docs.site.theory

# The documentation site, in build/site: a warning, a broken link or an address of another server ends the build.
docs: $(VENV)-docs/.made
	$(VENV)-docs/bin/python -m docs.site.stage
	$(VENV)-docs/bin/zensical build --clean --strict
	$(VENV)-docs/bin/python -m docs.site.check

# Lines, files and arrows of the package beside their goals.
size: $(VENV)/.dev
	$(BIN)/python -m benchmarks.size

bench: $(VENV)/.bench chromium
	PYTHONPATH=. $(BIN)/python -m benchmarks

# Synthetic records of dpmm and smartnoise, in environments of their own, beside those of an adaptive release. It takes
# many hours. Results are stored: a run that was stopped continues where it was.
PEERS := MST/2 AIM/2 "AIM of smartnoise/2" PrivBayes/2 MST AIM
bench-peers: $(VENV)/.dev $(VENV)-peers/.made $(VENV)-smartnoise/.made
	PYTHONPATH=. $(BIN)/python -m benchmarks.utility --seeds 5 --methods adaptive "adaptive, pure" "the table" $(PEERS)

# The programs of docs/peers.md, with dpbayes and with other packages: writes their sizes and times into the document.
beside: $(VENV)-peers/.made $(VENV)-interchange/.made
	python3 -m benchmarks.beside

# Browser tests drive Debian's Chromium, cheapest without its windows; CHROMIUM=/path/to/chromium names another one.
DEBIANS := /usr/bin/chromium-headless-shell /usr/bin/chromium
chromium:
	@for path in $${CHROMIUM:-$(DEBIANS)}; do if [ -x "$$path" ]; then exit 0; fi; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && { apt-get install -y -qq chromium-headless-shell || apt-get install -y -qq chromium; }; \
	else echo "Browser tests need Chromium: install Debian's package 'chromium' as root, or set CHROMIUM to its path."; exit 1; fi

# What the tests of engines start: without root they skip what is not there, and say so.
servers:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		command -v java >/dev/null && command -v nginx >/dev/null && \
		{ ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null; } || \
		{ apt-get update -qq && apt-get install -y -qq postgresql default-jre-headless nginx; } || \
		echo "PostgreSQL, Java or nginx cannot be installed; what needs them is skipped."; fi

$(VENV)/.run: requirements.txt
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

# Compiling all of it would take as long as fetching it: what is used is compiled when it is used.
$(VENV)/.dev: requirements.txt requirements-dev.txt
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile -r requirements-dev.txt
	touch $@

# What some benchmarks are measured against; nothing else needs it.
$(VENV)/.bench: $(VENV)/.dev requirements-bench.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-bench.txt
	touch $@

$(VENV)-peers/.made: requirements-peers.txt
	python3 -m venv $(VENV)-peers
	$(VENV)-peers/bin/pip install --quiet --disable-pip-version-check -r requirements-peers.txt
	$(VENV)-peers/bin/pip install --quiet --disable-pip-version-check --no-deps statsmodels==0.14.6 diffprivlib==0.6.6
	touch $@

$(VENV)-docs/.made: requirements-docs.txt
	python3 -m venv $(VENV)-docs
	$(VENV)-docs/bin/pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	touch $@

$(VENV)-interchange/.made: requirements.txt requirements-interchange.txt
	python3 -m venv $(VENV)-interchange
	$(VENV)-interchange/bin/pip install --quiet --disable-pip-version-check --no-compile -r requirements-interchange.txt
	touch $@

$(VENV)-smartnoise/.made: requirements-smartnoise.txt
	python3 -m venv $(VENV)-smartnoise
	$(VENV)-smartnoise/bin/pip install --quiet --disable-pip-version-check -r requirements-smartnoise.txt
	$(VENV)-smartnoise/bin/pip install --quiet --disable-pip-version-check --no-deps smartnoise-synth==1.0.8 smartnoise-sql==1.0.10
	touch $@

$(VENV)/.engines: $(VENV)/.dev requirements-engines.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile -r requirements-engines.txt
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-peers $(VENV)-smartnoise $(VENV)-docs $(VENV)-interchange build
