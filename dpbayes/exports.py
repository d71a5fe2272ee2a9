"""Files that a person takes away, safe to open in a spreadsheet."""

import json

import pandas as pd

from dpbayes.mechanisms import Release, ReleasedPosterior

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


def release_json(release: Release[ReleasedPosterior], *, simulated: bool = True) -> bytes:
    """Return one release (outcome (K,)) as JSON: network, posterior, guarantee and public facts, nothing else.

    `simulated` states in the file that the noise came from a seeded generator, which is no protection.
    """
    prior = release.outcome.prior
    network = prior.network
    content = {
        "kind": "simulated release: seeded noise, for demonstration only" if simulated else "release",
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
            {
                "row": label,
                "prior": prior.alpha[network.cells_of_row(row)].tolist(),
                "posterior": release.outcome.posterior.alpha[network.cells_of_row(row)].tolist(),
            }
            for row, label in enumerate(network.row_labels())
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False).encode()
