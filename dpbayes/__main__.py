"""The dashboard, and real releases, from the command line: `python -m dpbayes`, `python -m dpbayes release --help`."""

import sys
from collections.abc import Sequence

COMMANDS = ("release", "learn", "ledger", "verify", "view", "count")


def main(words: Sequence[str]) -> int:
    """Run a command of real releases, or serve the dashboard where none is named; each imports only what it needs."""
    if words and words[0] in COMMANDS:
        from dpbayes.releases.commands import main as releases

        return releases.main(words)
    from dpbayes.ui import serve

    return serve.main(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
