"""Codes of the values in Arrow arrays; each code equals that of `coded` for the value's text from a file reader.

For text, the entries of the dictionary are looked up, and records get their codes by index. Numbers are not converted
to text. Instead, the declared texts are converted once to numbers of the column's type.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbayes.base.libraries import pa, pd
from dpbayes.base.types import AnyArray, BoolArray, Codes
from dpbayes.base.validation import InputError, brief
from dpbayes.sources.columns import LEFT_OUT, OUTSIDE, Categories, Column, Cuts, Groups, coded, codes_of_declared
from dpbayes.sources.engines.written_numbers import least_at_or_above, parsed_number, whole_number_of
from dpbayes.sources.tables import texts_of

Signed = NDArray[np.int16]
"""Codes, with LEFT_OUT and OUTSIDE among them."""

WIDEST_TABLE = 1 << 16
"""Whole numbers are looked up in a table if the range of the declared values is smaller than this."""

FEW = 16
"""Up to this many values or cut points are compared one by one, which is faster than a search."""


@dataclass(frozen=True, eq=False)
class Masks:
    """The records (n,) to be left out, and the values (n,) that are not declared; None if there are none.

    The codes of these values are undefined.
    """

    left_out: BoolArray | None = None
    outside: BoolArray | None = None


ALL_DECLARED = Masks()

Coder = Callable[[pa.Array, Codes], Masks]
"""Write the codes of an array's values (n,) where they belong (n,): what is made anew each time costs more than the
looking up."""


def coder(column: Column, kind: "pa.DataType") -> Coder:
    """Return the function from arrays of this type to codes of the column.

    Errors: InputError, when it is called, for a type without a text.
    """
    if pa.types.is_boolean(kind):
        return _nullable(column, _of_booleans(column))
    if pa.types.is_integer(kind):
        return _nullable(column, _of_cut(column, kind) if isinstance(column, Cuts) else _of_whole(column, kind))
    if pa.types.is_floating(kind):
        return _nullable(column, _of_cut(column, kind) if isinstance(column, Cuts) else _of_floats(column, kind))
    return _of_texts(column)


def as_dictionary(name: str, values: "pa.Array") -> "tuple[NDArray[np.int32], pa.Array]":
    """Return indices (n,) into an array of distinct values, and this array; a missing value has the index of its end.

    Errors: InputError for a type whose values cannot be compared.
    """
    if pa.types.is_null(values.type):
        return np.zeros(len(values), dtype=np.int32), pa.array([], type=pa.string())
    try:
        dictionary = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise InputError(f"Column {brief(name)} has {values.type} values, which cannot be shown as text.") from None
    indices = dictionary.indices
    places = indices if indices.type == pa.int32() else indices.cast(pa.int32())
    if places.null_count:
        places = places.fill_null(len(dictionary.dictionary))
    return places.to_numpy(), dictionary.dictionary


# Nulls


def _nullable(column: Column, code: Coder) -> Coder:
    """Return a coder that also handles NULL, whose text is empty."""
    missing = _code(column, "")

    def write(values: "pa.Array", out: Codes) -> Masks:
        masks = code(values, out)
        if not values.null_count:
            return masks
        return _replaced(masks, out, values.is_null().to_numpy(zero_copy_only=False), missing)

    return write


def _replaced(masks: Masks, out: Codes, where: BoolArray, code: int) -> Masks:
    """Write `code`, which can be LEFT_OUT or OUTSIDE, at the places of the mask."""
    if code >= 0:
        out[where] = code
    left_out, outside = (None if mask is None else mask & ~where for mask in (masks.left_out, masks.outside))
    if code == LEFT_OUT:
        left_out = where if left_out is None else left_out | where
    if code == OUTSIDE:
        outside = where if outside is None else outside | where
    return Masks(left_out, outside)


def _numbers(values: "pa.Array") -> AnyArray:
    """Return the numbers of an array without a copy; missing values are arbitrary."""
    bare = pa.Array.from_buffers(values.type, len(values), [None, values.buffers()[1]], offset=values.offset)
    numbers: AnyArray = bare.to_numpy()
    return numbers


def _code(column: Column, text: str) -> int:
    return int(coded(column, pd.Series([text], dtype="str"))[0])


# Tables


@dataclass(frozen=True, eq=False)
class _CodesByPlace:
    """Codes by place (m,), with LEFT_OUT and OUTSIDE among them."""

    signed: Signed

    @cached_property
    def codes(self) -> Codes:
        return self.signed.astype(np.uint8)

    @cached_property
    def counts_up(self) -> bool:
        """Whether the code at each place is the place."""
        return len(self.signed) <= 256 and bool((self.signed == np.arange(len(self.signed))).all())

    @cached_property
    def swaps(self) -> bool:
        """Whether it is those of two states, the second one first."""
        return self.signed.tolist() == [1, 0]

    @cached_property
    def masks(self) -> Masks:
        """The places that stand for no code."""
        left_out, outside = (self.signed == sign for sign in (LEFT_OUT, OUTSIDE))
        return Masks(left_out if left_out.any() else None, outside if outside.any() else None)

    def write(self, places: AnyArray, out: Codes) -> Masks:
        """Look up places (n,), whole numbers below m."""
        if self.counts_up:
            np.copyto(out, places, casting="unsafe")
        elif self.swaps:
            np.equal(places, 0, out=out.view(bool))
        else:
            self.codes.take(places, out=out, mode="clip")  # "raise" would check all indices first
        return Masks(_taken(self.masks.left_out, places), _taken(self.masks.outside, places))


def _taken(mask: BoolArray | None, places: AnyArray) -> BoolArray | None:
    taken = None if mask is None else mask.take(places)
    return None if taken is None or not taken.any() else taken


# Text, and what is compared as text


def _of_texts(column: Column) -> Coder:
    dictionary: pa.Array | None = None
    declared = with_null = _CodesByPlace(np.zeros(0, dtype=np.int16))

    def write(values: "pa.Array", out: Codes) -> Masks:
        nonlocal dictionary, declared, with_null
        places, entries = as_dictionary(column.name, values)
        if dictionary is None or not entries.equals(dictionary):  # batches of one row group share their dictionary
            codes = [*coded(column, texts_of(column.name, entries)).tolist(), _code(column, "")]
            dictionary, with_null = entries, _CodesByPlace(np.array(codes, dtype=np.int16))
            declared = _CodesByPlace(with_null.signed[:-1])
        return (with_null if values.null_count else declared).write(places, out)

    return write


# Truth values


def _of_booleans(column: Column) -> Coder:
    table = _CodesByPlace(np.array([_code(column, "false"), _code(column, "true")], dtype=np.int16))

    def write(values: "pa.Array", out: Codes) -> Masks:
        bits = np.frombuffer(values.buffers()[1], dtype=np.uint8)[values.offset // 8 :] if len(values) else np.empty(0)
        start = values.offset % 8
        bits = bits.astype(np.uint8, copy=False)
        places: Codes = np.unpackbits(bits, count=start + len(values), bitorder="little")[start:]
        return table.write(places, out)

    return write


# Whole numbers


def _of_whole(column: Categories | Groups, kind: "pa.DataType") -> Coder:
    width = np.iinfo(kind.to_pandas_dtype())
    codes = {
        number: code
        for text, code in codes_of_declared(column).items()
        if (number := whole_number_of(text)) is not None and width.min <= number <= width.max
    }
    low, high = min(codes, default=0), max(codes, default=0)
    if high - low >= WIDEST_TABLE:
        return _of_bits(codes, np.dtype(width.dtype))
    signed = np.full(high - low + 1, OUTSIDE, dtype=np.int16)
    for number, code in codes.items():
        signed[number - low] = code
    table, unsigned = _CodesByPlace(signed), np.dtype(f"u{width.dtype.itemsize}")
    zero = unsigned.type(low % (1 << width.bits))

    def write(values: "pa.Array", out: Codes) -> Masks:
        # A number below the lowest wraps around to a value above the highest.
        numbers = _numbers(values).view(unsigned)
        places = numbers - zero if zero else numbers
        if places.max(initial=0) < len(signed):
            return table.write(places, out)
        beyond = places >= len(signed)
        return _replaced(table.write(np.where(beyond, 0, places), out), out, beyond, OUTSIDE)

    return write


# Other numbers


def _of_floats(column: Categories | Groups, kind: "pa.DataType") -> Coder:
    dtype = np.dtype(kind.to_pandas_dtype())
    codes = {}
    for text, code in codes_of_declared(column).items():
        number = parsed_number(text, dtype)
        if number is not None:
            codes[int(number.view(f"u{dtype.itemsize}"))] = code
    of_bits, nan = _of_bits(codes, np.dtype(f"u{dtype.itemsize}")), _code(column, "nan")

    def write(values: "pa.Array", out: Codes) -> Masks:
        masks = of_bits(values, out)
        if masks.outside is None:  # NaN has many bit patterns, which are not in the table
            return masks
        return _replaced(masks, out, np.isnan(_numbers(values)), nan)

    return write


def _of_bits(codes: dict[int, int], dtype: np.dtype[Any]) -> Coder:
    """Look numbers up by their bits, read as this type."""
    keys = np.array(sorted(codes), dtype=dtype)
    ordered = np.array([codes[int(key)] for key in keys], dtype=np.uint8)

    def compared(values: "pa.Array", out: Codes) -> Masks:
        bits = _numbers(values).view(dtype)
        inside = np.zeros(len(bits), dtype=bool)
        out[:] = 0
        for key, code in zip(keys, ordered, strict=True):
            equal = bits == key
            inside |= equal
            if code:
                out += equal.view(np.uint8) * code
        return Masks(outside=None if inside.all() else ~inside)

    def searched(values: "pa.Array", out: Codes) -> Masks:
        bits = _numbers(values).view(dtype)
        places = np.minimum(np.searchsorted(keys, bits), len(keys) - 1)
        ordered.take(places, out=out, mode="clip")
        inside = keys[places] == bits
        return Masks(outside=None if inside.all() else ~inside)

    return compared if len(keys) <= FEW else searched


# Cut points


def _of_cut(column: Cuts, kind: "pa.DataType") -> Coder:
    least = least_at_or_above(column.points, np.dtype(kind.to_pandas_dtype()))
    is_floating, nan = pa.types.is_floating(kind), _code(column, "nan")

    def write(values: "pa.Array", out: Codes) -> Masks:
        numbers = _numbers(values)
        if len(least) <= FEW:
            out[:] = 0
            for number in least:
                out += (numbers >= number).view(np.uint8)
        else:
            out[:] = np.searchsorted(least, numbers, side="right")
        if not is_floating or np.isfinite(numbers).all():
            return ALL_DECLARED
        return _replaced(Masks(outside=np.isinf(numbers)), out, np.isnan(numbers), nan)

    return write
