"""Run the programs of docs/peers.md, each in its environment, and write their sizes and times there: `make beside`."""

import ast
import re
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "peers.md"
RUNS = 3

_PROGRAM = re.compile(
    r"^(?:## (?P<task>[^\n]+)|### (?P<package>[^\n]+))\n\n(?:```py(?:thon)?\n(?P<code>.*?)^```)?",
    re.MULTILINE | re.DOTALL,
)
_MARKED = re.compile(r"(<!-- measured: side by side -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def python_of(package: str) -> Path:
    """Return the interpreter that has a package: `make beside` installs it."""
    environment = ".venv-peers" if package in ("dpmm", "diffprivlib") else ".venv-interchange"
    return ROOT / environment / "bin" / "python"


def programs(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the task, the package and the code of every program; the code that makes the file has no package."""
    task = ""
    for part in _PROGRAM.finditer(text):
        task = part["task"] or task
        if part["code"]:
            yield task, part["package"] or "", part["code"]


def size(code: str) -> tuple[int, int]:
    """Return the numbers of statements without imports, and of lines without blank ones."""
    statements = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)]
    imports = [node for node in statements if isinstance(node, ast.Import | ast.ImportFrom)]
    return len(statements) - len(imports), len(list(filter(str.strip, code.splitlines())))


def seconds(package: str, code: str, folder: str) -> float:
    """Return the processor time of one run of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for ledger in Path(folder).glob("*.ledger*"):
        ledger.unlink()
    environment = {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    subprocess.run([python_of(package), "-c", code], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    (_, _, file), *measured = programs(text)
    rows = ["| task | package | statements | lines | seconds |", "| --- | --- | --- | --- | --- |"]
    with tempfile.TemporaryDirectory() as folder:
        seconds("", file, folder)
        for task, package, code in measured:
            least = min(seconds(package, code, folder) for _ in range(RUNS))
            statements, lines = size(code)
            rows.append(f"| {task} | {package} | {statements} | {lines} | {least:.1f} |")
    table = "\n".join(rows)
    DOCUMENT.write_text(_MARKED.sub(lambda part: f"{part[1]}{table}\n{part[3]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
