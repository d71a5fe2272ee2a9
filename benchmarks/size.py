"""The size of the package, room by room, beside its goals: `make size`."""

import ast
import itertools
import statistics
import subprocess
from collections.abc import Iterable
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]

GOALS = {
    "base": 1_500,
    "model": 2_300,
    "posteriors": 4_800,
    "sources": 2_900,
    "mechanisms": 4_900,
    "audit": 3_300,
    "theory": 7_000,
    "releases": 4_300,
    "experiments": 4_200,
    "figures": 2_300,
    "boards": 3_000,
    "ui": 8_500,
}
"""Lines of Python of each room, at most."""

REST, ALL, FILES, TESTS, ARROWS = 900, 50_000, 320, 40_000, 45
"""The goals of what is in no room, of the package's lines and files, of the tests, and of the arrows between rooms."""


def main() -> None:
    """Print a line for each room, and the totals."""
    files = tracked("dpbayes/*.py")
    print(f"{'room':<14}{'lines':>8}{'goal':>8}{'files':>8}{'js, css':>9}")
    for room, goal in GOALS.items():
        own = [path for path in files if path.is_relative_to(ROOT / "dpbayes" / room)]
        browser = lines(tracked(f"dpbayes/{room}/*.js", f"dpbayes/{room}/*.css", f"dpbayes/{room}/*.html"))
        print(f"{room:<14}{lines(own):>8,}{goal:>8,}{len(own):>8}{browser or '':>9}")
    rest = [path for path in files if path.parent == ROOT / "dpbayes"]
    print(f"{'(others)':<14}{lines(rest):>8,}{REST:>8,}{len(rest):>8}")
    tests = tracked("tests/*.py")
    median, most = functions(files)
    print(f"{'all':<14}{lines(files):>8,}{ALL:>8,}{len(files):>8} of at most {FILES}")
    print(f"{'tests':<14}{lines(tests):>8,}{TESTS:>8,}{len(tests):>8}")
    print(f"{'arrows':<14}{arrows():>8}{ARROWS:>8}")
    print(f"A function has {median:g} lines in the middle, and at most {most:g} in nine of ten.")


def tracked(*patterns: str) -> list[Path]:
    """Return the files of the repository that match."""
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.splitlines()]


def lines(paths: Iterable[Path]) -> int:
    """Return the number of lines of all files."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def arrows() -> int:
    """Return the number of pairs of rooms of which one imports the other. What is in no room counts as one."""
    graph = grimp.build_graph("dpbayes", cache_dir=None)
    rooms: dict[str, set[str]] = {}
    for name in graph.find_children("dpbayes"):
        room = name.rpartition(".")[2]
        rooms.setdefault(room if room in GOALS else "", set()).update({name, *graph.find_descendants(name)})
    return sum(
        any(graph.find_modules_directly_imported_by(module) & rooms[other] for module in rooms[one])
        for one, other in itertools.permutations(rooms, 2)
    )


def functions(paths: Iterable[Path]) -> tuple[float, float]:
    """Return the median and the ninth decile of the lines of a function's body, without its docstring."""
    sizes = []
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                sizes.append(1 + (body[-1].end_lineno or 0) - body[0].lineno if body else 1)
    return statistics.median(sizes), statistics.quantiles(sizes, n=10)[-1]


if __name__ == "__main__":
    main()
