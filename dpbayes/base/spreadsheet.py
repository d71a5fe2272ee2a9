"""Downloaded tables, safe to open in a spreadsheet."""

from dpbayes.base.libraries import pd

_FORMULA_STARTS = ("=", "+", "-", "@")


def safe_csv(frame: "pd.DataFrame") -> bytes:
    """Return the frame as CSV whose texts cannot run as spreadsheet formulas: they get a leading apostrophe."""
    guarded = frame.rename(columns=_guarded).map(_guarded)
    return guarded.to_csv(index=False).encode()


def _guarded(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.replace("\r", " ")  # a bare carriage return opens a new line, and a new cell, in a spreadsheet
    return f"'{text}" if text.startswith("\t") or text.lstrip().startswith(_FORMULA_STARTS) else text
