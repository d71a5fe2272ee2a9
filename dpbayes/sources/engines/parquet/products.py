"""Sums of products of numeric columns, over a batch of records."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.sources.engines.gram import Products, UnitMapping, no_numbers
from dpbayes.sources.engines.parquet.files import kind_told

SUMMED = 1 << 13
"""Records whose products are summed up at a time, so that their numbers stay in the processor's cache."""


def is_number(kind: pa.DataType) -> bool:
    """Return whether values of a type are numbers."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_integer(plain) or pa.types.is_floating(plain) or pa.types.is_decimal(plain))


def require_numbers(field: pa.Field) -> None:
    """Errors: InputError for a column whose type is another than of numbers."""
    if not (is_number(field.type) or pa.types.is_null(field.type)):
        raise no_numbers(field.name, kind_told(field.type))


def added(sums: Products, batch: pa.RecordBatch, mappings: Sequence[UnitMapping]) -> Products:
    """Return the sums with those of a batch, SUMMED records at a time."""
    for start in range(0, len(batch), SUMMED):
        sums += _products(batch.slice(start, SUMMED), mappings)
    return sums


def _products(batch: pa.RecordBatch, mappings: Sequence[UnitMapping]) -> Products:
    joint, tells = np.ones((len(mappings) + 1, len(batch))), np.empty((3, len(mappings)), dtype=np.int64)
    for k, mapping in enumerate(mappings):
        values = batch.column(batch.schema.get_field_index(mapping.column.name))
        joint[k], tells[:, k] = mapping.mapped(*_doubles(values))
    return Products(joint @ joint.T, tells)


def _doubles(values: pa.Array) -> tuple[FloatArray, BoolArray | None]:
    """Return numbers as doubles (n,), NaN where there is none, and where that is; None where it is nowhere."""
    plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    missing = plain.is_null().to_numpy(zero_copy_only=False) if plain.null_count else None
    return plain.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), missing
