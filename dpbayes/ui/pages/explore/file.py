"""A simulated release as a file: what its recipient would get, and nothing else."""

import json
import math

import numpy as np

from dpbayes.base.privacy import Guarantee
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms import Outcome, Release, ReleasedPosterior, SampledCpts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEVEL

_MOST_READ = 10_000
"""Cells of a network whose release is still written for a person to read."""

_MOST_CONCLUDED = 1_500
"""Cells of a network whose intervals are in the file: those of more take seconds."""


def release_json(release: Release[Outcome], network: Network) -> bytes:
    """Return one simulated release as JSON: network, outcome, guarantee and public facts, nothing else.

    Where the noise is told, the file says what it is and, of a network that is not too large, the mean and the 95%
    interval of every probability with the noise in mind; all of it follows from the rest. The file states that its
    noise came from a seeded generator, which is no protection.
    """
    values = _arrays(release.outcome) | _concluded(release, network)
    rows = {name: _by_row(network, cells) for name, cells in values.items()}
    content = {
        "kind": "simulated release: seeded noise, for demonstration only",
        "mechanism": release.mechanism,
        "guarantee": _promise(release.guarantee),
        "public": dict(release.public),
        **_noise_facts(release.outcome),
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


def _promise(guarantee: Guarantee) -> dict[str, object]:
    """Return a promise by the names of its parts; rho only where one is promised."""
    rho = {"rho": guarantee.rho} if math.isfinite(guarantee.rho) else {}
    return {
        "epsilon": guarantee.epsilon if guarantee.is_private else None,
        "delta": guarantee.delta,
        **rho,
        "neighbours": guarantee.neighbours.value,
        "source": str(guarantee.reference),
    }


def _noise_facts(outcome: Outcome) -> dict[str, object]:
    """Return what is known of the noise, where it is."""
    if not isinstance(outcome, ReleasedPosterior) or outcome.noise_model is None:
        return {}
    return {"noise": outcome.noise_model.description}


def _concluded(release: Release[Outcome], network: Network) -> dict[str, FloatArray]:
    """Return what the recipient of one release may conclude with its noise in mind: arrays (..., K)."""
    if not release.tells_noise or network.cell_count > _MOST_CONCLUDED:
        return {}
    aware = release.noise_aware()
    return {"mean": aware.mean, f"{LEVEL:.0%} interval": np.stack(aware.interval(LEVEL))}


def _by_row(network: Network, values: FloatArray) -> list[object]:
    """Return values (..., K) as one list of (..., r) for each row."""
    cells: list[object] = []
    for first, rows, card in zip(network.cell_offsets, network.rows_per_node, network.cards, strict=False):
        table = values[..., first : first + rows * card].reshape(*values.shape[:-1], rows, card)
        cells += np.moveaxis(table, -2, 0).tolist()
    return cells


def _arrays(outcome: Outcome) -> dict[str, FloatArray]:
    """Return what the outcome of one release holds, by name: arrays (..., K)."""
    if isinstance(outcome, ReleasedPosterior):
        return {"prior": outcome.prior.alpha, "posterior": outcome.posterior.alpha}
    if isinstance(outcome, SampledCpts):
        return {"draws": outcome.draws}
    return {"probabilities": outcome.probabilities}
