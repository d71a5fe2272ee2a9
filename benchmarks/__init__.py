"""How fast the promises are kept: `python -m benchmarks` from the project's folder, or `make bench`."""
