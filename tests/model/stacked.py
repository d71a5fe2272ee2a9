"""Moments of many tables as one batch."""

from collections.abc import Sequence

import numpy as np

from dpbayes.model.regression import Moments


def stacked(parts: Sequence[Moments]) -> Moments:
    """Return moments of equal n as one batch (len(parts), ...)."""
    gram, cross, square = (np.stack([getattr(part, name) for part in parts]) for name in ("gram", "cross", "square"))
    return Moments(gram, cross, square, parts[0].n)
