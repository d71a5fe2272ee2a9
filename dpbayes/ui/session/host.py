"""How pages are run: how long a run works, and how much it simulates.

A server has a browser behind every session, and the values of `Host`. A test without a browser uses others.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """How pages are run.

    Attributes:
        first_s: Seconds of work before the first picture.
        moment_s: Seconds of work in each later run.
        head_start_s: Seconds that a browser gets to draw the picture of a page that was just opened. Without this
            pause it would first draw all other elements, and the picture two seconds later.
        share: The share of the usual numbers of releases, repeats and tables that pages simulate.
        goes_on: Whether a page runs again by itself, to continue its work.
        offers_frames: Whether a page that rests computes what its browser shows while a slider moves.
    """

    first_s: float = 0.05
    moment_s: float = 0.5
    head_start_s: float = 0.4
    share: float = 1.0
    goes_on: bool = True
    offers_frames: bool = True


_hosts = [Host()]


def host() -> Host:
    """Return how pages are run in this process."""
    return _hosts[-1]


def use_host(value: Host) -> None:
    """Run pages in this way from now on."""
    _hosts[:] = [value]


def share_of_host(number: int, least: int = 1) -> int:
    """Return the host's share of a usual number, and at least `least`."""
    return max(least, round(number * host().share))
