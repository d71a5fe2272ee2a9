"""The simulated releases behind every spread on the Explore page: their number, and where they are kept."""

from collections.abc import Callable, Hashable, Sequence

import streamlit as st

from dpbayes.base.memo import Memo
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work, finished, in_parts, mapped
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import ReleaseStudy
from dpbayes.mechanisms import Mechanism, Outcome, Release, reads_records
from dpbayes.mechanisms.adaptive.mechanism import joined_models
from dpbayes.mechanisms.base import simulated
from dpbayes.ui.pages.explore.averages import releases_key
from dpbayes.ui.pages.explore.readings import Simulated
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.kept import note_request, server_cache
from dpbayes.ui.widgets.running import WITHOUT_BUTTON, Running, running, so_far

DRAWS = 200
"""Simulated releases behind every spread on this page."""

LEAST_DRAWS, FEWEST_DRAWS = 20, 3

OF_RECORDS = 5
"""Simulated releases of a mechanism that reads the records: each takes 60 ms on Asia, and a second on 40 columns."""

MANY_VALUES, MOST_VALUES = 600_000, 2_700_000
"""Releases times cells that are simulated quickly, and their largest number. Larger networks get fewer releases, which
the page states: LEAST_DRAWS while this is possible, and FEWEST_DRAWS for the largest."""

SHARED, SHARED_VALUES = 64, 20_000
"""How many simulations a server keeps for all, and the numbers of one of them: some 100 MB in all."""

MOST_KEPT = 32
"""Things worked out of simulated releases that are kept with them: of a few cells that were looked at one by one."""


def releases_to_simulate(mechanism: Mechanism[Outcome]) -> int:
    """Return how many releases to simulate: fewer of a large network, or where each holds many draws.

    Errors: InputError where one release alone holds too many numbers.
    """
    if reads_records(type(mechanism)):
        return OF_RECORDS
    cells, draws_per_release = mechanism.prior.network.cell_count, getattr(mechanism, "draws", 1)
    size = cells * draws_per_release
    if size > MOST_VALUES and draws_per_release > 1:
        raise InputError(
            f"One release would have {size:,} numbers, and at most {MOST_VALUES:,} are simulated. Choose fewer "
            "posterior samples, or remove arrows on the Network page."
        )
    return max(FEWEST_DRAWS, min(max(LEAST_DRAWS, min(DRAWS, MANY_VALUES // size)), MOST_VALUES // size))


def simulate(chosen: Chosen, mechanism: Mechanism[Outcome]) -> ReleaseStudy:
    """Simulate releases of any mechanism. Errors: InputError."""
    return finished(_steps(chosen, mechanism)).study


def simulated_once(chosen: Chosen) -> Simulated:
    """Return the releases of the chosen mechanism so far, with a memo of computations on them. Errors: InputError."""
    return simulation(chosen).so_far


def simulation(chosen: Chosen) -> Running[Simulated]:
    """Return the simulation of the chosen mechanism, of which at least one step is done. Errors: InputError.

    The session keeps it until another is needed, because many reruns do not change it. On public records, a server
    keeps some for all sessions: the students of a class move their sliders over the same stops. Those of a large
    network are not kept, because they would take too much memory.
    """
    mechanism, key = chosen.mechanism, _key(chosen)
    size = _at_once(mechanism) * chosen.network.cell_count * getattr(mechanism, "draws", 1)

    def start() -> Work[Simulated]:
        if size <= SHARED_VALUES and chosen.has_public_records:
            return shared_simulations().once_in_steps(key, _steps, chosen, mechanism)
        return _steps(chosen, mechanism)

    work = Running(start()) if size > MANY_VALUES else running(_SIMULATED, key, start, most=1)
    return work.begun()


def _key(chosen: Chosen) -> tuple[Hashable, ...]:
    return (*releases_key(chosen), releases_to_simulate(chosen.mechanism))


def _at_once(mechanism: Mechanism[Outcome]) -> int:
    """Return how many releases one step simulates: all, or one of a mechanism that reads the records."""
    return 1 if reads_records(type(mechanism)) else releases_to_simulate(mechanism)


def _steps(chosen: Chosen, mechanism: Mechanism[Outcome]) -> Work[Simulated]:
    """Simulate in steps; the stream belongs to the mechanism, so a comparison shows the same numbers."""
    statistic, at_once = chosen.statistic_for(mechanism), _at_once(mechanism)
    rng, exact = stream(chosen.seed, "release", type(mechanism).__name__), mechanism.prior.updated(statistic)

    def batch(step: int) -> Release[Outcome]:
        return simulated(mechanism, statistic, rng, (at_once,))

    def so_far(batches: Sequence[Release[Outcome]]) -> Simulated:
        release = batches[0] if len(batches) == 1 else joined_models(batches)
        return Simulated(ReleaseStudy(exact, release), Memo(most=MOST_KEPT))

    return mapped(in_parts(batch, releases_to_simulate(mechanism) // at_once), so_far)


# Simulations that take long


_SIMULATED, _WANTED = "release.simulated", "release.wanted"


def values_read(mechanism: Mechanism[Outcome], n: int) -> int:
    """Return how many values of n records one release reads: none if the counts are sufficient."""
    count: Callable[[int], int] = getattr(mechanism, "values_read", lambda n: 0)
    return count(n)


def takes_long(mechanism: Mechanism[Outcome], n: int) -> bool:
    """Return whether one release of n records takes so long that nobody should wait for it without a choice."""
    return values_read(mechanism, n) > WITHOUT_BUTTON


def waits_for_request(chosen: Chosen) -> bool:
    """Whether the person must start the simulation, and has not. Errors: InputError."""
    if not takes_long(chosen.mechanism, chosen.counts.n):
        return False
    key = _key(chosen)
    return so_far(_SIMULATED, key) is None and st.session_state.get(_WANTED) != hash(key)


def offer_simulation(chosen: Chosen) -> None:
    """Offer to start a simulation that takes long."""
    st.button("Simulate the release", key="release.simulate", on_click=note_request, args=(_WANTED, hash(_key(chosen))))
    st.caption("The simulation takes a while with so many records and columns.")


@server_cache()
def shared_simulations() -> Memo:
    """Return the simulations that a server keeps for all its sessions."""
    return Memo(most=SHARED)
