"""Files that a person takes away, safe to open in a spreadsheet."""

import json

import numpy as np
import pandas as pd

from dpbayes.base.types import FloatArray
from dpbayes.mechanisms import Outcome, Release, ReleasedPosterior, SampledCpts
from dpbayes.model.network import Network

_FORMULA_STARTS = ("=", "+", "-", "@")

_MOST_READ = 10_000
"""Cells of a network whose release is still written for a person to read."""


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
    rows = {name: _by_row(network, values) for name, values in _held(release.outcome).items()}
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
            {"row": label} | {name: values[row] for name, values in rows.items()}
            for row, label in enumerate(network.row_labels())
        ],
    }
    # Indented, half a million rows take ten times as long, for nobody reads that many.
    indent = 2 if network.cell_count <= _MOST_READ else None
    return json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False).encode()


def _by_row(network: Network, values: FloatArray) -> list[object]:
    """Return values (..., K) as one list of (..., r) for each row."""
    cells: list[object] = []
    for first, rows, card in zip(network.cell_offsets, network.rows_per_node, network.cards, strict=False):
        table = values[..., first : first + rows * card].reshape(*values.shape[:-1], rows, card)
        cells += np.moveaxis(table, -2, 0).tolist()
    return cells


def _held(outcome: Outcome) -> dict[str, FloatArray]:
    """Return what the outcome of one release holds, by name: arrays (..., K)."""
    if isinstance(outcome, ReleasedPosterior):
        return {"prior": outcome.prior.alpha, "posterior": outcome.posterior.alpha}
    if isinstance(outcome, SampledCpts):
        return {"draws": outcome.draws}
    return {"probabilities": outcome.probabilities}
