"""What the Stealth page simulates, once for each graph and calibration; a moving t only looks numbers up.

Simulations go on from run to run of the page; see `running`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.randomness import stream
from dpbayes.base.steps import Part, Work, in_parts
from dpbayes.base.validation import InputError
from dpbayes.experiments.agreement import Noticed, noticed, sharing_families
from dpbayes.mechanisms import Calibration, LaplaceFourier, LaplaceUpdates
from dpbayes.mechanisms.fourier import INCREMENT
from dpbayes.mechanisms.noise.law import NoiseLaw
from dpbayes.mechanisms.stealth import (
    LeastNoise,
    Needed,
    Sense,
    UnitNoise,
    is_table_in_reach,
    least_noise,
    needed_by_the_table,
    simulate,
    table_work,
)
from dpbayes.model.counts import Counts, count
from dpbayes.model.network import Network
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.theory.zhang16.fourier import CoefficientNoise, invented_records, printed_noise
from dpbayes.theory.zhang16.stealth import negative_marginal_probability, negative_table_probability
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.increments import is_simulated, noise_of
from dpbayes.ui.widgets.running import Running, running

NEAREST = 1 - 1e-12
"""The largest probability that a t is proved for."""

MOST_SHOWN = 20_000
"""Most records of the made-up table."""

MOST_VALUES = 1_000_000
"""Draws times cells that are simulated anew, with the real counts, each time that epsilon moves."""

MOST_NOISE, LEAST_DRAWS = 200_000_000, 200
"""Draws times cells of the noise alone, some ten seconds of work; draws at least."""

RELEASES, LEAST_RELEASES = 300, 20
MOST_RELEASED = 600_000
"""Releases of the made-up table, and releases times cells that are still quick."""

WITHOUT_TABLE = 1000
"""Records of the made-up table where there is no table whose n is public."""

POINTS = 161
HIGHEST = 5.0


STEP, TABLE_STEP = 500_000, 5_000_000
"""Cells of released tables, and of the whole table's elimination, that one step of a simulation goes through."""

MADE_UP_STEP = 250_000
"""Cells that one step goes through where more than the least cell is looked at."""


@dataclass(frozen=True, eq=False)
class Worst:
    """Simulated noise alone: the least noise of released tables, and the whole table's increments where in reach."""

    least: LeastNoise
    table: Needed | None

    @classmethod
    def joined(cls, parts: "Sequence[Worst]") -> "Worst":
        """Return all draws together."""
        tables = [part.table for part in parts if part.table is not None]
        return cls(LeastNoise.joined([part.least for part in parts]), Needed.joined(tables) if tables else None)


@dataclass(frozen=True, eq=False)
class Stealth:
    """All that the page shows of one network: the mechanism, simulations by sense, bounds on a grid of increments.

    `real` is simulated with the real counts, for the curator; `refused` says why it is not there. `works` are the
    simulations, which may still go on.
    """

    mechanism: LaplaceFourier
    worst: Mapping[Sense, Needed]
    real: Needed | None
    refused: str
    grid: np.ndarray
    proved: np.ndarray
    works: tuple[Running[Any], ...]

    @property
    def network(self) -> Network:
        """The network."""
        return self.mechanism.prior.network

    @property
    def noise(self) -> CoefficientNoise:
        """The noise in use, as the bounds know it."""
        return noise_of(self.network, self.mechanism.calibration, self.mechanism.noise_law.drawn_once)

    @property
    def draws(self) -> int:
        """How many releases the noise of is simulated once all of it is in."""
        return _draws(self.network)

    @property
    def records(self) -> float:
        """Records that t = 1 adds to every table."""
        return self._records(self.noise)

    @property
    def printed_records(self) -> float:
        """Records that t = 1 adds to every table with the noise as printed."""
        return self._records(printed_noise(self.network))

    def _records(self, noise: CoefficientNoise) -> float:
        return float(invented_records(self.network, noise=noise, epsilon=self.mechanism.epsilon, t=1.0))


def stealth_of(chosen: Chosen) -> Stealth:
    """Return simulations and bounds for what is chosen. Errors: InputError when a node is not binary."""
    network, calibration, sense = chosen.network, chosen.parameter("calibration"), chosen.options("stealth").sense
    mechanism = LaplaceFourier(
        prior=chosen.prior, epsilon=chosen.epsilon, t=0.0, calibration=calibration, noise=chosen.parameter("noise")
    )
    law = mechanism.noise_law.drawn_once
    simulation = running("stealth", (network, calibration, law), lambda: _worst_steps(network, calibration, law))
    simulation.work()
    noise = Worst.joined(simulation.so_far)
    worst = {
        Sense.MARGINALS: noise.least.needed(),
        Sense.PARAMETERS: noise.least.needed(chosen.settings.prior / law.scaled_to(mechanism.noise_law)),
    }
    if noise.table is not None:
        worst[Sense.TABLE] = noise.table
    grid = _grid(worst[Sense.MARGINALS])
    proved = _proved(network, noise_of(network, calibration, law), sense, tuple(grid))
    again, refused = _real(chosen, mechanism, sense) if chosen.is_curator else (None, "")
    if again is None:
        return Stealth(mechanism, worst, None, refused, grid, proved, (simulation,))
    again.work()
    return Stealth(mechanism, worst, Needed.joined(again.so_far), "", grid, proved, (simulation, again))


def proved_probability(network: Network, noise: CoefficientNoise, sense: Sense, t: np.ndarray) -> np.ndarray:
    """Return the proved probability of a non-negative release; positive parameters need no more than the tables."""
    bound = negative_table_probability if sense is Sense.TABLE else negative_marginal_probability
    return 1 - bound(network, noise=noise, t=t)


_proved = st.cache_data(scope="session", max_entries=32, show_spinner=False, hash_funcs={Network: hash})(
    lambda network, noise, sense, grid: proved_probability(network, noise, sense, np.array(grid))
)


def _grid(worst: Needed) -> np.ndarray:
    low = float(np.clip(0.3 * worst.increments[len(worst.increments) // 20], 1e-3, 0.02))
    return np.geomspace(10 ** (math.floor(math.log10(low) * 10) / 10), HIGHEST, POINTS)


def _draws(network: Network) -> int:
    """Return as many draws as the Explore page's default t comes from, so that the two pages agree.

    Of large networks, whose t is proved on both pages, fewer.
    """
    if is_simulated(network):
        return 10_000 if network.cell_count < 1000 else 2_000
    return max(LEAST_DRAWS, min(2_000, MOST_NOISE // network.cell_count))


def _steps(draws: int, *, each: int, step: Callable[[int], Part]) -> Work[tuple[Part, ...]]:
    """Return a simulation of `draws` in steps of `each`; `step` is given how many to draw."""
    return in_parts(lambda number: step(min(each, draws - number * each)), math.ceil(draws / each))


def _worst_steps(network: Network, calibration: Calibration, law: NoiseLaw) -> Work[tuple[Worst, ...]]:
    """Simulate what depends on the graph and the law of the noise; the whole table only where it is in reach."""
    draws, rng = _draws(network), stream(0, "stealth")  # the very noise of the Explore page
    each, is_table_shown = max(1, STEP // network.cell_count), is_table_in_reach(network, draws=draws)
    if is_table_shown:
        each = max(1, min(each, TABLE_STEP // table_work(network)))

    def step(size: int) -> Worst:
        noise = UnitNoise.draw(network, calibration, rng, draws=size, law=law)
        return Worst(least_noise(noise), needed_by_the_table(noise) if is_table_shown else None)

    return _steps(draws, each=each, step=step)


def _real(chosen: Chosen, mechanism: LaplaceFourier, sense: Sense) -> tuple[Running[tuple[Needed, ...]] | None, str]:
    """Simulate with the real counts; kept while they and the mechanism stay the same. Never shared."""
    try:
        counts = chosen.counts
    except InputError as error:
        return None, str(error)
    network, calibration = mechanism.prior.network, mechanism.calibration
    draws, each = max(200, min(_draws(network), MOST_VALUES // network.cell_count)), STEP // network.cell_count
    if sense is Sense.TABLE:
        if not is_table_in_reach(network, draws=draws):
            return None, ""
        each = TABLE_STEP // table_work(network)
    rng = stream(0, "stealth")

    def step(size: int) -> Needed:
        noise = UnitNoise.draw(network, calibration, rng, draws=size, law=mechanism.noise_law.drawn_once)
        return simulate(sense, noise, mechanism, counts.values)

    key = (network, calibration, mechanism.noise, mechanism.epsilon, chosen.settings.prior, sense, counts.digest)
    return running("stealth.real", key, lambda: _steps(draws, each=max(1, each), step=step)), ""


# Do tables agree?


@dataclass(frozen=True, eq=False)
class Agreement:
    """Releases of a made-up table, of which two `families` hold a `node`, or none do where no two tables share one.

    `work` simulates them, a dictionary by mechanism for each step; `shared` are all nodes that two tables hold.
    """

    records: int
    shared: tuple[str, ...]
    node: int
    families: tuple[int, ...]
    work: Running[tuple[dict[str, Noticed], ...]]

    @property
    def seen(self) -> dict[str, Noticed]:
        """What shows in the releases so far, by mechanism."""
        parts = self.work.so_far
        return {label: Noticed.joined([part[label] for part in parts]) for label in parts[0]}


def agreement_of(stealth: Stealth, t: float, *, records: int | None, seed: int, asked: str | None) -> Agreement:
    """Return what two tables of a release say of the node `asked` for, else of the first that two tables hold."""
    network = stealth.network
    shared = tuple(name for k, name in enumerate(network.names) if len(sharing_families(network, k)) > 1)
    node = network.index(asked if isinstance(asked, str) and asked in shared else shared[0]) if shared else 0
    families = sharing_families(network, node)[:2]
    public = min(records if records is not None else WITHOUT_TABLE, MOST_SHOWN)
    fourier = replace(stealth.mechanism, t=min(t, INCREMENT.high))
    key = (network, fourier.calibration, fourier.noise, fourier.epsilon, fourier.t, node, public, seed)
    work = running("stealth.agreement", key, lambda: _agreement_steps(fourier, public, seed, node, families))
    if not work.taken or not any(other.going for other in stealth.works):
        work.work()
    return Agreement(public, shared, node, families, work)


def _agreement_steps(
    fourier: LaplaceFourier, records: int, seed: int, node: int, families: Sequence[int]
) -> Work[tuple[dict[str, Noticed], ...]]:
    """Simulate releases of a made-up table under Laplace and under Fourier: nothing here depends on anybody's data."""
    network = fourier.prior.network
    mechanisms = (LaplaceUpdates(prior=fourier.prior, epsilon=fourier.epsilon, noise=fourier.noise), fourier)
    drawn = {each.label: stream(seed, "stealth", each.label) for each in mechanisms}

    def step(size: int) -> dict[str, Noticed]:
        counts = made_up_counts(network, records, seed)
        return {
            each.label: noticed(each, counts, drawn[each.label], releases=size, node=node, families=families)
            for each in mechanisms
        }

    releases = max(LEAST_RELEASES, min(RELEASES, MOST_RELEASED // network.cell_count))
    return _steps(releases, each=max(1, MADE_UP_STEP // network.cell_count), step=step)


@st.cache_data(scope="session", max_entries=8, show_spinner=False, hash_funcs={Network: hash})
def made_up_counts(network: Network, n: int, seed: int) -> Counts:
    """Count a table of n fair coin flips in every column: it holds nothing of anybody's data."""
    fair = np.full(network.cell_count, 0.5)
    return count(network, sample_dataset(network, fair, n, stream(seed, "stealth", "table")))
