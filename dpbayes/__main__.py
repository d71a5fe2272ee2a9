"""The dashboard from the command line: `python -m dpbayes`."""

import sys

from dpbayes.ui.serve import main

if __name__ == "__main__":
    sys.exit(main())
