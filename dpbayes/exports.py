"""Files that a person takes away, safe to open in a spreadsheet."""

import json

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbayes.mechanisms import Outcome, Release, ReleasedPosterior, SampledCpts
from dpbayes.network import Network

FloatArray = NDArray[np.float64]

_FORMULA_STARTS = ("=", "+", "-", "@")


def safe_csv(frame: pd.DataFrame) -> bytes:
    """Return the frame as CSV whose texts cannot run as spreadsheet formulas: they get a leading apostrophe."""

    def guard(value: object) -> object:
        if not isinstance(value, str):
            return value
        text = value.replace("\r", " ")  # a bare carriage return opens a new line, and a new cell, in a spreadsheet
        return f"'{text}" if text.startswith("\t") or text.lstrip().startswith(_FORMULA_STARTS) else text

    guarded = frame.rename(columns=guard).map(guard)
    return guarded.to_csv(index=False).encode()


def release_json(release: Release[Outcome], network: Network) -> bytes:
    """Return one simulated release as JSON: network, outcome, guarantee and public facts, nothing else.

    The file states that its noise came from a seeded generator, which is no protection.
    """
    held = _held(release.outcome)
    content = {
        "kind": "simulated release: seeded noise, for demonstration only",
        "mechanism": release.mechanism,
        "guarantee": {
            "epsilon": release.guarantee.epsilon if release.guarantee.is_private else None,
            "delta": release.guarantee.delta,
            "neighbours": release.guarantee.neighbours.value,
            "source": str(release.guarantee.reference),
        },
        "public": dict(release.public),
        "network": {
            name: {"states": states, "parents": parents}
            for name, states, parents in zip(network.names, network.states, network.parents, strict=True)
        },
        "rows": [
            {"row": label} | {name: values[..., network.cells_of_row(row)].tolist() for name, values in held.items()}
            for row, label in enumerate(network.row_labels())
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False).encode()


def _held(outcome: Outcome) -> dict[str, FloatArray]:
    """Return what the outcome of one release holds, by name: arrays (..., K)."""
    if isinstance(outcome, ReleasedPosterior):
        return {"prior": outcome.prior.alpha, "posterior": outcome.posterior.alpha}
    if isinstance(outcome, SampledCpts):
        return {"draws": outcome.draws}
    return {"probabilities": outcome.probabilities}
