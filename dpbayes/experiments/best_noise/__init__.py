"""Which noise on counts is the least at one promise: in cells, over graphs, on residuals and in an answer.

Everything here is public: noise depends on the network and on the promise, and answers are those of made-up records.
"""

from dpbayes.experiments.best_noise.comparison import (
    CellNoise,
    Comparison,
    Promise,
    compare_steps,
    is_searched,
    needs_delta,
    noisy_kinds,
)

__all__ = [
    "CellNoise",
    "Comparison",
    "Promise",
    "compare_steps",
    "is_searched",
    "needs_delta",
    "noisy_kinds",
]
