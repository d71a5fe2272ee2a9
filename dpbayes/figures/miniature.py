"""Densities as heights of a small picture that is drawn in the browser, without a library."""

import numpy as np

from dpbayes.base.types import FloatArray

HIGH = 1000
"""Units of the picture above the line that densities stand on."""

ROOM = 1.15
"""The height of the picture in heights of the exact density."""


def density_heights(exact: FloatArray, private: FloatArray) -> tuple[list[int], list[list[int]]]:
    """Return the heights of an exact density and of several private ones, which are cut off at the picture's top.

    Args:
        exact: The exact density on a grid: (G,).
        private: The private densities on the same grid: (E, G).

    Returns:
        The heights in whole units, 0 to `HIGH`: of the exact density, and of each private one.
    """
    top = ROOM * float(exact.max())
    heights = np.rint(HIGH * np.minimum(np.vstack([exact, private]) / top, 1.0)).astype(int).tolist()
    return heights[0], heights[1:]
