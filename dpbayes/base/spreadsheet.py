"""Downloaded tables, safe to open in a spreadsheet."""

from dpbayes.base.libraries import pd

_FORMULA_STARTS = ("=", "+", "-", "@")


def safe_text(value: str) -> str:
    """Return a text as `safe_csv` writes it."""
    text = value.replace("\r", " ")  # a bare carriage return opens a new line, and a new cell, in a spreadsheet
    return f"'{text}" if text.startswith("\t") or text.lstrip().startswith(_FORMULA_STARTS) else text


def safe_csv(frame: "pd.DataFrame") -> bytes:
    """Return the frame as CSV whose texts cannot run as spreadsheet formulas: they get a leading apostrophe."""

    def guard(value: object) -> object:
        return safe_text(value) if isinstance(value, str) else value

    guarded = frame.rename(columns=guard).map(guard)
    return guarded.to_csv(index=False).encode()
