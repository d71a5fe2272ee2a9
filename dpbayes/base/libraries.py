"""Libraries that take long to import, and those that may be missing.

A slow library is imported when a module first uses it, not when it first names it. An open page then waits only for
those that draw it. Only this module names these libraries in an import (Ruff's `banned-module-level-imports`).
Annotations that contain one of their types are quoted: they would import it.
"""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dpbayes.base.validation import InputError

__all__ = ["arrow_compute", "arrow_parquet", "extra", "fft", "nw", "nx", "pa", "pd"]

if TYPE_CHECKING:
    import narwhals as nw
    import networkx as nx
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as arrow_compute
    import pyarrow.parquet as arrow_parquet
    from scipy import fft
else:

    class Library:
        """A library by its name, with the attributes that it has."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(importlib.import_module(self._name), name)

    nw = Library("narwhals")
    nx = Library("networkx")
    pd = Library("pandas")
    pa = Library("pyarrow")
    arrow_compute = Library("pyarrow.compute")
    arrow_parquet = Library("pyarrow.parquet")
    fft = Library("scipy.fft")


@contextmanager
def extra(name: str, feature: str) -> Iterator[None]:
    """Import packages of an extra within the block.

    Args:
        name: The extra, as pyproject.toml names it.
        feature: The feature that needs the packages, as the beginning of a sentence.

    Raises:
        InputError: A package is not installed; the sentence names it and the command that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "dpbayes":  # an error of this program, which no installation would correct
            raise
        raise InputError(
            f'{feature} needs {package}, which is not installed here: pip install "dpbayes[{name}]".'
        ) from None
