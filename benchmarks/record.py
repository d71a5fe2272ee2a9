"""One measurement as a value, the table of all, and the file they go to."""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, kw_only=True)
class Record:
    """A figure of this machine and this minute; where there is a baseline, both were measured in the same run.

    `bound` is the largest value allowed, or with `least` the smallest; it holds for the ratio to the baseline if there
    is one, else for the value. Ratios are the larger the better with `least`, else the smaller.
    """

    name: str
    value: float
    unit: str
    baseline: str = ""
    baseline_value: float | None = None
    bound: float | None = None
    least: bool = False
    times: tuple[float, ...] = ()
    baseline_times: tuple[float, ...] = ()

    @classmethod
    def of_times(
        cls,
        name: str,
        times: Sequence[float],
        unit: str,
        *,
        baseline: str,
        baseline_times: Sequence[float],
        bound: float,
    ) -> "Record":
        """Return the median of times over that of the baseline, with all of them beside: another day has a spread."""
        return cls(
            name=name,
            value=statistics.median(times),
            unit=unit,
            baseline=baseline,
            baseline_value=statistics.median(baseline_times),
            bound=bound,
            times=tuple(times),
            baseline_times=tuple(baseline_times),
        )

    @property
    def ratio_of_least(self) -> float | None:
        """The least time over the baseline's least, which other work on the machine disturbs least."""
        return min(self.times) / min(self.baseline_times) if self.times and self.baseline_times else None

    @property
    def ratio(self) -> float | None:
        """Value over baseline, or with `least` how many times less the value is than the baseline."""
        if self.baseline_value is None:
            return None
        return self.baseline_value / self.value if self.least else self.value / self.baseline_value

    @property
    def met(self) -> bool | None:
        """Whether the bound holds; None without a bound."""
        if self.bound is None:
            return None
        judged = self.value if self.ratio is None else self.ratio
        return judged >= self.bound if self.least else judged <= self.bound


def median_ms(act: Callable[[], object], *, repeats: int, warm_up: int = 1) -> float:
    """Return the median time of one call in milliseconds."""
    for _ in range(warm_up):
        act()
    took = []
    for _ in range(repeats):
        start = time.perf_counter()
        act()
        took.append(1000 * (time.perf_counter() - start))
    return statistics.median(took)


def as_table(records: Sequence[Record]) -> str:
    """Return the records as lines of text."""
    lines = [("what", "measured", "baseline", "ratio", "of the least", "bound", "met")]
    for r in records:
        value = f"{r.value:.4g} {r.unit}{_range(r.times)}"
        baseline = (
            ""
            if r.baseline_value is None
            else f"{r.baseline_value:.4g} {r.unit}{_range(r.baseline_times)} ({r.baseline})"
        )
        ratio = "" if r.ratio is None else f"{r.ratio:.3g} x"
        least = "" if r.ratio_of_least is None else f"{r.ratio_of_least:.3g} x"
        sign, unit = ("≥" if r.least else "≤"), ("x" if r.ratio is not None else r.unit)
        bound = "" if r.bound is None else f"{sign} {r.bound:g} {unit}"
        met = "" if r.met is None else "yes" if r.met else "NO"
        lines.append((r.name, value, baseline, ratio, least, bound, met))
    widths = [max(len(line[k]) for line in lines) for k in range(7)]
    return "\n".join("  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def _range(times: Sequence[float]) -> str:
    return f" [{min(times):.4g}, {max(times):.4g}]" if times else ""


def save(records: Sequence[Record], **more: object) -> Path:
    """Write the records, with the machine and the hour, to a new file of the results."""
    RESULTS.mkdir(exist_ok=True)
    now = datetime.now(UTC)
    machine = {"python": platform.python_version(), "system": platform.platform(), "cores": os.cpu_count()}
    content = {
        "when": now.isoformat(timespec="seconds"),
        "machine": machine | {"load": os.getloadavg()},
        "records": [asdict(r) | {"ratio": r.ratio, "ratio_of_least": r.ratio_of_least, "met": r.met} for r in records],
        **more,
    }
    path = RESULTS / f"{now:%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False), encoding="utf-8")
    return path
