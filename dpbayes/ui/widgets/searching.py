"""The search for the scales of a mechanism's noise that serve its tables best: of a large network it takes long."""

from typing import Any

from dpbayes.base.text import done
from dpbayes.mechanisms.noise.shares import searched
from dpbayes.ui.widgets.running import Running, progress, running


def search_under_way(mechanism: Any) -> Running[None] | None:
    """Search for a moment, and return the search as long as it is not over; None where there is nothing to search.

    Errors: InputError for a network on which no best scales are searched.
    """
    if not hasattr(mechanism, "design_steps"):
        return None
    network, weights = mechanism.prior.network, mechanism.weights
    # By where the network keeps what was found: an equal network that was built anew has to be searched anew.
    work = running("search", (type(mechanism), network.designs, weights), lambda: searched(mechanism))
    work.work()
    return None if work.done else work


def show_search(work: Running[None], *, key: str) -> None:
    """Show how far the search is, and the button to stop."""
    progress(work, f"{done(work.share)} of the search for the best noise on this network", key=key)
