"""The types of arrays, by the type of their elements."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
ComplexArray = NDArray[np.complex128]
Codes = NDArray[np.uint8]
"""States of records as places in their domain: at most 256 states."""

SingleArray = NDArray[np.float32]

AnyArray = NDArray[Any]
"""Numbers of whatever type they are given in."""
CodeArray = NDArray[Any]
"""Codes of states, in whatever type of whole numbers holds them best."""
