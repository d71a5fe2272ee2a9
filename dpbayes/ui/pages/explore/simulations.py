"""The simulated releases behind every spread on the Explore page: their number, and where they are kept."""

import streamlit as st

from dpbayes.base.memo import Memo
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work, in_parts, mapped
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import ReleaseStudy, study_release
from dpbayes.mechanisms import Mechanism, Outcome, reads_records
from dpbayes.mechanisms.adaptive.mechanism import joined_models
from dpbayes.ui.pages.explore.averages import releases_key
from dpbayes.ui.pages.explore.readings import Simulated
from dpbayes.ui.session.chosen import Chosen
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
    """Simulate releases; the stream belongs to the mechanism, so a comparison shows the same numbers."""
    rng = stream(chosen.seed, "release", type(mechanism).__name__)
    return study_release(mechanism, chosen.statistic_for(mechanism), rng, releases_to_simulate(mechanism))


def simulated_once(chosen: Chosen) -> Simulated:
    """Return the releases of the chosen mechanism, with a memo of computations on them.

    The session keeps them until others are needed, because many reruns do not change them. On public records, a server
    keeps some for all sessions: the students of a class move their sliders over the same stops. Those of a large
    network are not kept, because they would take too much memory.
    """
    mechanism = chosen.mechanism
    if reads_records(type(mechanism)):
        return records_simulated(chosen).so_far
    draws = releases_to_simulate(mechanism)
    key = releases_key(chosen), draws
    size = draws * chosen.network.cell_count * getattr(mechanism, "draws", 1)
    if size > MANY_VALUES:
        return _simulated(chosen)
    if size <= SHARED_VALUES and chosen.has_public_records:
        return shared_simulations().once(key, _simulated, chosen)
    mine: Memo = st.session_state.setdefault("releases", Memo(most=1))
    return mine.once(key, _simulated, chosen)


def _simulated(chosen: Chosen) -> Simulated:
    return Simulated(simulate(chosen, chosen.mechanism), Memo(most=MOST_KEPT))


# Mechanisms that read the records


_OF_RECORDS, _WANTED = "release.simulated", "release.wanted"


def records_simulated(chosen: Chosen) -> Running[Simulated]:
    """Return the releases so far of a mechanism that reads the records, at least one. Errors: InputError."""

    def start() -> Work[Simulated]:
        if not chosen.has_public_records:
            return _record_steps(chosen)
        return shared_simulations().once_in_steps((_OF_RECORDS, key), _record_steps, chosen)

    key = releases_key(chosen)
    work = running(_OF_RECORDS, key, start)
    if not work.taken:
        work.work()
    return work


def waits_for_request(chosen: Chosen) -> bool:
    """Whether a release takes so long that the person must start its simulation."""
    if not reads_records(type(chosen.mechanism)) or record_values(chosen) <= WITHOUT_BUTTON:
        return False
    key = releases_key(chosen)
    return so_far(_OF_RECORDS, key) is None and st.session_state.get(_WANTED) != hash(key)


def offer_simulation(chosen: Chosen) -> None:
    """Offer to start a simulation that takes long."""
    key = hash(releases_key(chosen))
    st.button("Simulate the release", key="release.simulate", on_click=_want, args=(key,))
    st.caption("The simulation takes a while with so many records and columns.")


def _want(key: int) -> None:
    st.session_state[_WANTED] = key


def record_values(chosen: Chosen) -> int:
    """Return how many values of records one release reads: those of all pairs of columns."""
    columns = len(chosen.network.names)
    return chosen.counts.n * columns * (columns - 1) // 2


def _record_steps(chosen: Chosen) -> Work[Simulated]:
    """Simulate as `simulate` does, one release in each step."""
    mechanism, statistic = chosen.mechanism, chosen.statistic
    rng, exact = stream(chosen.seed, "release", type(mechanism).__name__), mechanism.prior.updated(statistic)
    parts = in_parts(lambda k: mechanism.release(statistic, rng, (1,)), releases_to_simulate(mechanism))
    return mapped(parts, lambda batches: Simulated(ReleaseStudy(exact, joined_models(batches)), Memo(most=MOST_KEPT)))


@st.cache_resource(show_spinner=False)
def shared_simulations() -> Memo:
    """Return the simulations that a server keeps for all its sessions."""
    return Memo(most=SHARED)
