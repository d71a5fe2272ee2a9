"""How pages are run: how long a run works.

A server has a browser behind every session, and the values of `Host`. A test without a browser uses others.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """How pages are run.

    Attributes:
        first_s: Seconds of work before the first picture.
        moment_s: Seconds of work in each later run.
        goes_on: Whether a page runs again by itself, to continue its work.
    """

    first_s: float = 0.05
    moment_s: float = 0.5
    goes_on: bool = True


_hosts = [Host()]


def host() -> Host:
    """Return how pages are run in this process."""
    return _hosts[-1]


def use_host(value: Host) -> None:
    """Run pages in this way from now on."""
    _hosts[:] = [value]
