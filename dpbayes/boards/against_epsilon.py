"""The pictures of Explore against epsilon: the divergence, the signs of counts, and predictions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpbayes.base.looks import BOUND, Curve, Look
from dpbayes.base.randomness import stream
from dpbayes.base.text import numeral, share_text
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.boards.curator import CuratorInputs, values_in
from dpbayes.experiments.accuracy.methods import ALL_METHODS, EXACT, methods_for
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.experiments.accuracy.study import AccuracyStudy, accuracy_study
from dpbayes.experiments.epsilon_curves import EpsilonCurves, divergence_bounds, epsilon_curves, proved_share
from dpbayes.experiments.releases import MechanismAt
from dpbayes.figures.accuracy import BAND, accuracy_figure, at_epsilon
from dpbayes.figures.explore import shares_figure
from dpbayes.figures.style import Figure, small_epsilon_axis
from dpbayes.mechanisms import LaplaceFourier, Mechanism, Outcome
from dpbayes.mechanisms.parameters import EPSILON, Calibration
from dpbayes.mechanisms.stealth import needed_increments
from dpbayes.posteriors.noise_model import Reading

STOPS = tuple(EPSILON.stops)
GRID = STOPS[::2]
"""The epsilons at which releases are simulated, 0.01 to 100."""

COARSE = STOPS[::5]
"""Fewer stops, for what takes longer. Powers of ten are in both, so that their numbers are simulated, too."""

MOST_RELEASES, LEAST_RELEASES, MOST_VALUES = 200, 10, 600_000
"""Releases at each epsilon, and the values of all releases together; larger releases have no such pictures."""

AWARE_RELEASES, MOST_AWARE = 4, 400
"""Noise-aware posteriors at each epsilon, and the cells of the largest network that has them."""

SIGNS = 500
"""Simulated Fourier releases at each epsilon."""

MOST_PREDICTED = 10_000
"""Cells of the largest network whose predictions are simulated."""

LEARNT = 0.01
"""The least gain in accuracy over the most frequent value, without noise, that a release can keep or lose."""

TRAINING = 0.8
"""The share of the records that each split of the table trains on."""

DELTA = 0.05
"""The probability that a divergence exceeds its bound."""

PROVED, STATED = Look("proved, naive", BOUND, "dash", width=1.5), Look("stated [Zhang16]", BOUND, "dot", width=1.5)
PROVED_SHARE = Look("proved", LaplaceFourier.colour, "dash", width=1.5)

Shown = tuple[dict[str, Figure], dict[str, str], dict[str, float]]
"""Pictures, their captions and their numbers, by key."""


@dataclass(frozen=True, eq=False)
class Pictures:
    """The pictures against epsilon, whose curves are computed once for all stops."""

    inputs: CuratorInputs

    @cached_property
    def mechanism(self) -> Mechanism[Outcome]:
        """The mechanism at epsilon 1."""
        return self.inputs.mechanism_at(1.0)

    def at(self, epsilon: float) -> Shown:
        """Return the pictures with the line at an epsilon, what each shows there, and its number."""
        figures, captions, numbers = dict[str, Figure](), dict[str, str](), dict[str, float]()
        end = float(np.clip(epsilon, GRID[0], GRID[-1]))
        for key, picture in (("divergence", self._divergence), ("signs", self._signs), ("accuracy", self._accuracy)):
            if (shown := picture(end)) is not None:
                figures[key], captions[key], numbers[key] = shown
        if end != epsilon:  # a number of another epsilon is not stated
            return figures, dict.fromkeys(captions, f"The picture ends at ε = {numeral(end)}."), {}
        return figures, captions, numbers

    # The divergence

    @cached_property
    def curves(self) -> EpsilonCurves | None:
        """Releases at each epsilon, read naively; None of a large network."""
        most = MOST_VALUES // len(GRID) // values_in(self.mechanism)
        releases = min(MOST_RELEASES, self.inputs.releases, max(LEAST_RELEASES, most))
        if releases < LEAST_RELEASES or LEAST_RELEASES * values_in(self.mechanism) > MOST_VALUES:
            return None
        return epsilon_curves(
            self.inputs.mechanism_at, self.inputs.counts, GRID, self._rng("curves"), releases=releases
        )

    @cached_property
    def aware(self) -> EpsilonCurves | None:
        """A few releases at each epsilon, read with their noise in mind; None if the reader does not."""
        has_noise = hasattr(self.mechanism, "noise_model")
        if not self.inputs.is_noise_aware or not has_noise or self.inputs.counts.network.cell_count > MOST_AWARE:
            return None
        rng, reading = self._rng("curves"), Reading.NOISE_AWARE
        return epsilon_curves(
            self.inputs.mechanism_at, self.inputs.counts, COARSE, rng, releases=AWARE_RELEASES, reading=reading
        )

    @cached_property
    def bounds(self) -> list[Curve]:
        """Bounds on the divergence of a naive reader: as proved, and as the paper states it."""
        stops = np.array(STOPS)
        bounds = divergence_bounds(self.mechanism, self.inputs.counts, stops, delta=DELTA)
        return [_curve(look, stops, bound) for look, bound in zip((PROVED, STATED), bounds, strict=False)]

    def _divergence(self, epsilon: float) -> tuple[Figure, str, float] | None:
        if self.curves is None:
            return None
        chosen = self.aware or self.curves
        name = "noise-aware" if self.aware else "naive" if chosen.of_posteriors else "releases"
        divergence = chosen.divergence.mean(axis=1)
        own = _curve(Look(name, self.mechanism.colour), chosen.epsilons, chosen.share_of_records(divergence))
        bounds = [replace(bound, y=chosen.share_of_records(bound.y)) for bound in self.bounds]
        value, nats = at_epsilon(own, epsilon), at_epsilon(replace(own, y=divergence), epsilon)
        n = self.inputs.counts.n
        records = round(value * n) if value * n >= 1 else 0
        mark = f"{records:,} of {n:,}"
        figure = shares_figure([own, *bounds], epsilon=epsilon, value=value, title="share of records", text=mark)
        text = f"{f'As near as {records:,}' if records else 'Not as near as 1'} of the {n:,} records without noise"
        unproved = "" if bounds else " No limit is proved."
        return figure, f"{text} (KL divergence: {numeral(nats, 2)} nats).{unproved}", nats

    # The signs

    @cached_property
    def signs(self) -> list[Curve]:
        """How often a count is negative, the chosen mechanism first, and what is proved about Fourier."""
        if type(self.mechanism) is LaplaceFourier:
            return self._lifted(self.inputs.mechanism_at)
        if self.curves is None or not self.curves.of_posteriors:
            return []
        look = Look(self.mechanism.label, self.mechanism.colour)
        own = _curve(look, self.curves.epsilons, self.curves.negative.mean(axis=1))
        return [own] if self.inputs.fourier_at is None else [own, *self._lifted(self.inputs.fourier_at)]

    def _lifted(self, fourier_at: MechanismAt) -> list[Curve]:
        """Return the share of Fourier releases with a negative count: simulated, and proved for every table."""
        shares, proved = [], []
        for epsilon in COARSE:
            fourier = fourier_at(epsilon)
            assert isinstance(fourier, LaplaceFourier)
            network, kind, law = self.inputs.counts.network, fourier.calibration, fourier.noise_law
            needed = needed_increments(
                network, kind, self._rng("signs"), draws=SIGNS, law=law, counts=self.inputs.counts.values
            )
            shares.append(float(np.mean(needed > fourier.t)))
            proved.append(float(proved_share(network, kind, fourier.t, law)))
        simulated = Look(LaplaceFourier.label, LaplaceFourier.colour)
        curves = (simulated, shares), (PROVED_SHARE, proved)
        return [_curve(look, np.array(COARSE), np.array(y)) for look, y in curves]

    def _signs(self, epsilon: float) -> tuple[Figure, str, float] | None:
        if not self.signs:
            return None
        here = {curve.look.name: at_epsilon(curve, epsilon) for curve in self.signs}
        value, *_ = here.values()
        figure = shares_figure(self.signs, epsilon=epsilon, value=value, title="releases with a negative count")
        return figure, _signs_text(here, int(np.sum(self.inputs.counts.values == 0))), value

    # Predictions

    @cached_property
    def accuracy(self) -> AccuracyStudy | None:
        """How often each release predicts the target of a held-back record; None if nothing can be predicted."""
        network = self.inputs.counts.network
        if self.inputs.table is None or network.cell_count > MOST_PREDICTED:
            return None
        among = [method for method in ALL_METHODS.values() if method.kind is type(self.mechanism)]
        try:
            plan = AccuracyPlan(
                network=network,
                target=self.inputs.question.target,
                source=self.inputs.table,
                epsilons=GRID,
                methods=methods_for(network, (Calibration.CERTIFIED,), among=among),
                training=max(1, int(TRAINING * self.inputs.table.n)),
                seed=self.inputs.seed,
            )
        except InputError:  # a column with one state
            return None
        return accuracy_study(plan)

    def _accuracy(self, epsilon: float) -> tuple[Figure, str, float] | None:
        study = self.accuracy
        if study is None:
            return None
        baselines, private = study.curves[:2], study.curves[2:]
        which = -1 if self.inputs.is_noise_aware else 0
        shown, method = (private[which], study.plan.private[which]) if private else (baselines[0], EXACT)
        shown = replace(shown, look=replace(shown.look, name=self.mechanism.label, dash="solid"))
        value = at_epsilon(shown, epsilon)
        curves = [*baselines, *([shown] if private else [])]
        figure = accuracy_figure(curves, study.plan.grid, epsilon=epsilon, marked=[shown])
        y = figure.layout["yaxis"] | {"nticks": 4, "title": {"text": "correct"}}
        axes = {"xaxis": small_epsilon_axis(study.plan.grid), "yaxis": y}
        without, majority = (float(one.y[0]) for one in baselines)
        lost = study.behind(method, study.place_of(epsilon))
        is_tied = abs(lost.value) <= BAND * lost.error
        is_kept = 10 * (without - value) < without - majority
        name = self.inputs.meanings.get(study.plan.target, study.plan.target)
        beside = ", about as many as without noise" if is_tied else f"; without noise, {share_text(without)}"
        is_naive = self.inputs.is_noise_aware and hasattr(self.mechanism, "noise_model") and not method.is_aware
        whose = "a naive reader’s predictions of" if is_naive else "predictions of"
        text = f"{'Yes' if is_kept else 'Partly'}: {share_text(value)} of {whose} {name} are right{beside}."
        if without - majority < LEARNT:
            text = f"Even without noise, predictions of {name} are hardly better than always the most frequent value: "
            text += f"{share_text(without)} against {share_text(majority)} are right."
        elif value <= majority:
            text = f"No: {share_text(value)}; always guessing the most frequent {name} gives {share_text(majority)}."
        return replace(figure, layout=figure.layout | axes), text, value

    def _rng(self, word: str) -> np.random.Generator:
        return stream(self.inputs.seed, "explore", word)


def _signs_text(shares: Mapping[str, float], zeros: int) -> str:
    """State how often a release has a negative count, simulated and proved, why, and what it leads to."""
    simulated = {name: share for name, share in shares.items() if name != PROVED_SHARE.name}
    if not any(simulated.values()):
        return "No: no release has a negative count."
    texts = " and ".join(f"{'all' if one == 1 else f'{share_text(one)} of'} {name}" for name, one in simulated.items())
    proved = f" (proved: at most {share_text(shares[PROVED_SHARE.name])})" if PROVED_SHARE.name in shares else ""
    why = f" True counts of 0 (here {zeros:,}) can at any ε." if zeros else ""
    return f"Yes, in {texts} releases{proved}.{why} Set to 0, they add made-up records."


def _curve(look: Look, x: FloatArray, y: FloatArray) -> Curve:
    return Curve(look, x, y, np.full(len(x), np.nan))
