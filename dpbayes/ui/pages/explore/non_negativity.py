"""How often a Fourier release has no negative number, by the increment t: simulated with all counts zero, and proved.

Noise is simulated once for a graph and a calibration; a moving t only looks numbers up. Simulations continue over
several runs of the page; see `running`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, Curve, Look
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Part, Work, in_parts
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms import Calibration, LaplaceFourier
from dpbayes.mechanisms.noise.law import NoiseLaw
from dpbayes.mechanisms.stealth import (
    LeastNoise,
    Needed,
    Sense,
    UnitNoise,
    is_table_in_reach,
    least_noise,
    needed_by_the_table,
    simulate_for_counts,
    table_work,
)
from dpbayes.model.network import Network
from dpbayes.theory.zhang16.fourier import CoefficientNoise, invented_records, printed_noise
from dpbayes.theory.zhang16.stealth import (
    negative_marginal_probability,
    negative_table_probability,
    printed_probability,
)
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.increments import is_simulated, noise_of
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.widgets.running import Running, running

MOST_VALUES = 1_000_000
"""Samples times cells that are simulated with the true counts at each move of epsilon."""

MOST_NOISE, LEAST_DRAWS = 200_000_000, 200
"""Draws times cells of the noise alone, some ten seconds of work; draws at least."""

POINTS, HIGHEST = 161, 5.0
"""Points of the grid of t, and its end."""

STEP, TABLE_STEP = 500_000, 5_000_000
"""Cells of released tables, and of the whole table's elimination, that one step of a simulation goes through."""

STATED = Look("1 − exp(−t), as stated in the paper", BOUND, "dash", width=2)


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
class NonNegativity:
    """Probabilities of a non-negative release of one network: simulated by sense (`worst`), and proved on a grid of t.

    All are public. `work` is the simulation, which may be unfinished.
    """

    mechanism: LaplaceFourier
    worst: Mapping[Sense, Needed]
    grid: FloatArray
    work: Running[tuple[Worst, ...]]

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
        """The number of releases in the finished simulation."""
        return _draws(self.network)

    @property
    def counts(self) -> float:
        """Counts that t = 1 adds to every table."""
        return self._counts(self.noise)

    @property
    def printed_counts(self) -> float:
        """Counts that t = 1 adds to every table with the noise as stated in the paper."""
        return self._counts(printed_noise(self.network))

    def _counts(self, noise: CoefficientNoise) -> float:
        return float(invented_records(self.network, noise=noise, epsilon=self.mechanism.epsilon, t=1.0))

    def proved(self, sense: Sense) -> FloatArray:
        """Return the proved probabilities on the grid."""
        return np.asarray(_proved(self.network, self.noise, sense, tuple(self.grid)))

    def simulated(self, sense: Sense, name: str) -> Curve:
        """Return the simulated probabilities on the grid, under a name."""
        return self._curve(sense.look.called(name), self.worst[sense].probability(self.grid))

    @property
    def stated(self) -> Curve:
        """The probabilities that the paper states."""
        return self._curve(STATED.called("as stated"), printed_probability(self.grid))

    def of_true_counts(self, needed: Needed) -> Curve:
        """Return the probabilities on the grid with the true counts."""
        return self._curve(Look("true counts", EXACT, width=2), needed.probability(self.grid))

    def _curve(self, look: Look, values: FloatArray) -> Curve:
        return Curve(look, self.grid, np.asarray(values), np.full(len(self.grid), np.nan))


def non_negativity_of(chosen: Chosen) -> NonNegativity:
    """Return simulations and bounds for the chosen network. Errors: InputError if a node is not binary."""
    network, calibration = chosen.network, chosen.parameter("calibration")
    mechanism = LaplaceFourier(
        prior=chosen.prior, epsilon=chosen.epsilon, t=0.0, calibration=calibration, noise=chosen.parameter("noise")
    )
    law = mechanism.noise_law.drawn_once
    work = running("stealth", (network, calibration, law), lambda: _worst_steps(network, calibration, law))
    work.work()
    noise = Worst.joined(work.so_far)
    parameters = chosen.settings.prior.of_tables(noise.least.cells)
    worst = {
        Sense.MARGINALS: noise.least.needed(),
        Sense.PARAMETERS: noise.least.needed(parameters / law.scaled_to(mechanism.noise_law)),
    }
    if noise.table is not None:
        worst[Sense.TABLE] = noise.table
    return NonNegativity(mechanism, worst, _grid(worst[Sense.MARGINALS]), work)


def proved_probability(network: Network, noise: CoefficientNoise, sense: Sense, t: FloatArray) -> FloatArray:
    """Return the proved probability of a non-negative release; positive parameters need no more than the tables."""
    bound = negative_table_probability if sense is Sense.TABLE else negative_marginal_probability
    return np.asarray(1 - bound(network, noise=noise, t=t))


_proved = session_cache(32)(
    lambda network, noise, sense, grid: proved_probability(network, noise, sense, np.array(grid))
)


def _grid(worst: Needed) -> FloatArray:
    low = float(np.clip(0.3 * worst.increments[len(worst.increments) // 20], 1e-3, 0.02))
    return np.geomspace(10 ** (math.floor(math.log10(low) * 10) / 10), HIGHEST, POINTS)


def _draws(network: Network) -> int:
    """Return as many draws as Fourier's default t comes from; of large networks, whose t is proved, fewer."""
    if is_simulated(network):
        return 10_000 if network.cell_count < 1000 else 2_000
    return max(LEAST_DRAWS, min(2_000, MOST_NOISE // network.cell_count))


def records_text(number: float) -> str:
    """Return a number of records or counts: whole from a thousand up, however large."""
    return f"{number:,.0f}" if number >= 1000 else numeral(number)


def in_steps(draws: int, *, step_size: int, step: Callable[[int], Part]) -> Work[tuple[Part, ...]]:
    """Return a simulation of `draws` in steps of `step_size`; `step` is given how many to draw."""
    return in_parts(lambda number: step(min(step_size, draws - number * step_size)), math.ceil(draws / step_size))


def _worst_steps(network: Network, calibration: Calibration, law: NoiseLaw) -> Work[tuple[Worst, ...]]:
    """Simulate the probabilities by graph and distribution of the noise; the whole table only if it is small enough."""
    draws, rng = _draws(network), stream(0, "stealth")  # the very noise of the default t
    step_size, is_table_shown = max(1, STEP // network.cell_count), is_table_in_reach(network, draws=draws)
    if is_table_shown:
        step_size = max(1, min(step_size, TABLE_STEP // table_work(network)))

    def step(size: int) -> Worst:
        noise = UnitNoise.draw(network, calibration, rng, draws=size, law=law)
        return Worst(least_noise(noise), needed_by_the_table(noise) if is_table_shown else None)

    return in_steps(draws, step_size=step_size, step=step)


def with_true_counts(chosen: Chosen, mechanism: LaplaceFourier) -> Running[tuple[Needed, ...]]:
    """Simulate releases of the true counts; kept while they and the mechanism stay the same. Errors: InputError."""
    counts, network, calibration = chosen.counts, mechanism.prior.network, mechanism.calibration
    draws, step_size = max(200, min(_draws(network), MOST_VALUES // network.cell_count)), STEP // network.cell_count
    rng = stream(0, "stealth")

    def step(size: int) -> Needed:
        noise = UnitNoise.draw(network, calibration, rng, draws=size, law=mechanism.noise_law.drawn_once)
        return simulate_for_counts(Sense.MARGINALS, noise, mechanism, counts.values)

    key = (network, calibration, mechanism.noise, mechanism.epsilon, chosen.settings.prior, counts.digest)
    return running("stealth.real", key, lambda: in_steps(draws, step_size=max(1, step_size), step=step))
