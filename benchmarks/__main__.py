"""Measure, print a table, keep a file: `python -m benchmarks`, or `--memory` for the long look at the memory."""

import argparse

from benchmarks.core import andes_releases, asia_releases, counting, growth
from benchmarks.record import Record, as_table, save


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--no-browser", action="store_true", help="leave out what needs Chromium")
    parser.add_argument("--rounds", type=int, default=40, help="slider moves timed on each page")
    parser.add_argument("--memory", action="store_true", help="only this: memory while a slider moves for minutes")
    parser.add_argument("--moves", type=int, default=2000, help="with --memory: slider moves at most")
    parser.add_argument("--seconds", type=float, default=240, help="with --memory: seconds at most")
    asked = parser.parse_args()
    if asked.memory:
        from benchmarks.memory import memory

        records, looks = memory(moves=asked.moves, seconds=asked.seconds)
        show(records, looks=looks)
        return
    records = [*asia_releases(), *andes_releases(), *counting(), *growth()]
    if not asked.no_browser:
        from benchmarks.browser import cold_start, slider_to_chart

        records += [*cold_start(), *slider_to_chart(rounds=asked.rounds)]
    show(records)


def show(records: list[Record], **more: object) -> None:
    print(as_table(records))
    print(f"Kept in {save(records, **more)}")


if __name__ == "__main__":
    main()
