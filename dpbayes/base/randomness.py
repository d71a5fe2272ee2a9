"""Independent random streams by name, so that adding one experiment never changes another's numbers."""

import hashlib
from typing import Any

import numpy as np

from dpbayes.base.validation import InputError, brief


def stream(seed: int, *labels: str | int | float) -> np.random.Generator:
    """Return the generator that belongs to (seed, labels); different labels give independent streams.

    For demonstrations and experiments only: a real release must not be seeded.
    """
    _require_seed(seed)
    text = "\x1f".join(f"{type(label).__name__}:{label!r}" for label in labels)
    words = np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint32)
    return np.random.default_rng(np.random.SeedSequence([seed, *(int(word) for word in words)]))


def generator(seed: Any) -> np.random.Generator:
    """Return a generator itself, or that of a seed. Errors: InputError for anything else."""
    if hasattr(seed, "random") and not isinstance(seed, np.random.RandomState):
        return seed
    _require_seed(seed)
    return np.random.default_rng(int(seed))


def _require_seed(seed: Any) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"The seed must be a generator or a whole number from 0 on, not {brief(seed)}.")
