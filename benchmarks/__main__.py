"""Measure, print a table, keep a file: `python -m benchmarks`; `--memory` for memory, `--engines` for large tables."""

import argparse
from pathlib import Path

from benchmarks import accuracy, noise_aware, regression, releases
from benchmarks.classroom import classroom
from benchmarks.core import andes_releases, asia_releases, counting, growth
from benchmarks.mechanisms import audits, costs, cut_draws, slopes, trimmed_draws
from benchmarks.pages import large_pages, wide_pages
from benchmarks.plots import save_costs
from benchmarks.record import Record, as_table, save
from benchmarks.startup import startup


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--no-browser", action="store_true", help="leave out what needs Chromium")
    parser.add_argument("--rounds", type=int, default=40, help="slider moves timed on each page")
    parser.add_argument("--memory", action="store_true", help="only this: memory while a slider moves for minutes")
    parser.add_argument("--moves", type=int, default=2000, help="with --memory: slider moves at most")
    parser.add_argument("--seconds", type=float, default=240, help="with --memory: seconds at most")
    parser.add_argument("--engines", action="store_true", help="only this: DuckDB on a large table")
    parser.add_argument("--most", type=int, default=1_000_000, help="with --engines: records of the table")
    args = parser.parse_args()
    if args.engines:
        from benchmarks.engines import engines, in_memory

        show([*in_memory(), *engines(n=args.most)])
        return
    if args.memory:
        from benchmarks.memory import memory

        records, looks = memory(moves=args.moves, seconds=args.seconds)
        show(records, looks=looks)
        return
    records = [*startup(), *asia_releases(), *andes_releases(), *counting(), *growth()]
    records += [*releases.named(), *releases.large()]
    records += [*noise_aware.posteriors(), *noise_aware.joint_posteriors()]
    measured = costs()
    records += [*audits(), *trimmed_draws(), *cut_draws(), *slopes(measured)]
    grown = accuracy.growth()
    records += [*accuracy.figure_one(), *accuracy.estimates(), *accuracy.slopes(grown)]
    measured |= grown
    grown = regression.growth()
    records += [*regression.figure_2(), *regression.making_up(), *regression.slopes(grown)]
    measured |= grown
    records += [*wide_pages(), *large_pages()]
    if not args.no_browser:
        from benchmarks.browser import cold_start, dragging, first_charts, slider_to_chart

        records += [*cold_start(), *first_charts(), *slider_to_chart(rounds=args.rounds), *dragging()]
        records += classroom()
    path = show(records)
    print(f"Costs drawn in {save_costs(measured, path.with_suffix('.html'))}")


def show(records: list[Record], **more: object) -> Path:
    print(as_table(records))
    path = save(records, **more)
    print(f"Kept in {path}")
    return path


if __name__ == "__main__":
    main()
