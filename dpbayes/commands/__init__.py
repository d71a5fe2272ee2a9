"""What a shell runs: experiments and real releases; the dashboard is served by `dpbayes/ui/serve.py`."""
