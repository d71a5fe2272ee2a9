"""The commands of real releases, such as `python -m dpbayes release`."""
