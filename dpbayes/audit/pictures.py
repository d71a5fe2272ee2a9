"""The data for pictures of the worst pair of neighbours: two distributions."""

import math
from dataclasses import dataclass

import numpy as np

from dpbayes.audit.report import Laws, WorstCase
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms import Noise
from dpbayes.mechanisms.noise.law import NoiseLaw

MOST_SHOWN = 60
"""Outputs without an order: only the most probable ones are drawn."""

UNLIKELY, RAREST = 1e-4, 1e-8
"""Outputs at either end with less than this share of the largest probability are cut off; the second for the worst."""

NEAR, FAR = 4, 3
"""The laws of one number are drawn up to so many steps, and so many scales of the noise, from both values."""

POINTS = 241


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoLaws:
    """The laws `first` and `second` (P,) of two neighbours over the same `places` (P,), with the titles of both axes.

    `caption` has further sentences. If they are the laws of one of several numbers, `part` is what it loses at most.
    """

    places: FloatArray | list[str]
    first: FloatArray
    second: FloatArray
    x: str
    y: str
    caption: str = ""
    part: float = 0.0


def two_laws(worst: WorstCase, *, x: str, y: str = "probability", ordered: bool = True) -> TwoLaws | None:
    """Return the probabilities of the outputs for the worst pair, of many only `shown_outputs`; None if unknown."""
    if (laws := worst.laws) is None:
        return None
    shown = shown_outputs(laws, ordered=ordered)
    return TwoLaws(
        places=laws.outputs[shown] if isinstance(laws.outputs, np.ndarray) else [laws.outputs[k] for k in shown],
        first=laws.first[shown],
        second=laws.second[shown],
        x=x,
        y=y,
        part=laws.part,
    )


def shown_outputs(laws: Laws, *, ordered: bool) -> IntArray:
    """Return the places to draw: a range with the mass and the largest loss if `ordered`, else the likely ones."""
    most = np.maximum(laws.first, laws.second)
    if not ordered:
        return np.sort(np.argsort(-most, kind="stable")[:MOST_SHOWN])
    seen = np.flatnonzero(most >= RAREST * most.max())
    worst = seen[np.argmax(laws.first[seen] / laws.second[seen])]
    likely = np.append(np.flatnonzero(most >= UNLIKELY * most.max()), worst)
    return np.arange(likely.min(), likely.max() + 1)


def noisy_number(law: NoiseLaw, *, step: float, what: str) -> TwoLaws:
    """Return the Laplace laws of one number that moves by `step`: it loses step/scale at most, and all add up.

    They are densities, or probabilities of whole numbers, at evenly spaced values where there are too many.
    """
    is_whole, scale = law.noise is Noise.WHOLE, law.scale
    reach, kind = math.ceil(max(NEAR * step, FAR * scale)), "probability" if is_whole else "density"
    value = np.linspace(-reach, reach + step, POINTS)
    if is_whole:
        value = np.arange(-reach, reach + step + 1, max(1, 2 * reach // POINTS))
    largest = math.tanh(0.5 / scale) if is_whole else 1 / (2 * scale)
    first, second = (largest * np.exp(-np.abs(value - at) / scale) for at in (step, 0.0))
    return TwoLaws(
        places=[f"{int(k):,}".replace("-", "−") for k in value] if is_whole and len(value) <= MOST_SHOWN else value,
        first=first,
        second=second,
        x=f"released {what} minus the second table’s true one",
        y=kind,
        caption=f"0 is the true {what} of the second table.",
        part=step / scale,
    )


def gaussian_numbers(shift: float) -> TwoLaws:
    """Return the distributions of all noisy numbers along the line between the tables, in standard deviations."""
    value = np.linspace(-5, 5 + shift, POINTS)
    first, second = (np.exp(-((value - at) ** 2) / 2) / math.sqrt(2 * math.pi) for at in (shift, 0.0))
    return TwoLaws(
        places=value,
        first=first,
        second=second,
        x="position between the two tables, standard deviations of the noise",
        y="density",
        caption="The picture combines all released values: only their position along this line depends on the table.",
    )
