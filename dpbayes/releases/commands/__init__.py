"""Real releases without a browser: `python -m dpbayes release --help`, and so its other commands."""
