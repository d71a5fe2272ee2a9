"""The search for the best noise of a mechanism that divides its noise among tables."""

from typing import Any

from dpbayes.base.text import done
from dpbayes.mechanisms.base import searched
from dpbayes.ui.widgets.running import Running, progress, running


def search_under_way(mechanism: Any) -> Running[None] | None:
    """Search the best scales of the noise for a moment; return the unfinished search, else None.

    Errors: InputError for a network that is too large for the search.
    """
    if not hasattr(mechanism, "design_steps"):
        return None
    network = mechanism.prior.network
    # The key is the network's own store of results: a new equal network must be searched again.
    work = running("search", (type(mechanism), network.designs), lambda: searched(mechanism))
    work.work()
    return None if work.done else work


def show_search(work: Running[None], *, key: str) -> None:
    """Show the progress of the search and a button to stop."""
    progress(work, f"{done(work.share)} of the search for the best noise on this network", key=key)
