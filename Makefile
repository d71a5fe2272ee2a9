# `make run` serves the app; `make test` tests it. Both make the environment they need.
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
# Compiled files are kept: without them each worker of the tests compiles everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test thorough check unit browser bench chromium clean

run: $(VENV)/.run
	$(BIN)/python -m dpbayes --port $(PORT)

test: check unit browser

# Every case where `make test` tries a sample, and 1000 examples of each property.
thorough: export HYPOTHESIS_PROFILE := thorough
thorough: test

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=. $(BIN)/lint-imports

unit: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto -m "not browser"

browser: $(VENV)/.dev chromium
	$(BIN)/python -m pytest -n auto -m browser tests/browser

bench: $(VENV)/.bench chromium
	PYTHONPATH=. $(BIN)/python -m benchmarks

# Browser tests drive Debian's Chromium, cheapest without its windows; CHROMIUM=/path/to/chromium names another one.
DEBIANS := /usr/bin/chromium-headless-shell /usr/bin/chromium
chromium:
	@for path in $${CHROMIUM:-$(DEBIANS)}; do if [ -x "$$path" ]; then exit 0; fi; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && { apt-get install -y -qq chromium-headless-shell || apt-get install -y -qq chromium; }; \
	else echo "Browser tests need Chromium: install Debian's package 'chromium' as root, or set CHROMIUM to its path."; exit 1; fi

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

clean:
	rm -rf $(VENV)
