"""What the documents say is true: their Python runs and prints what they show, and what they name exists."""

import importlib
import re
import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import dpbayes
from dpbayes.base.references import PAPERS
from dpbayes.mechanisms import MECHANISMS, Calibration, LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler
from dpbayes.mechanisms.die import enumeration
from dpbayes.model import closure, network, synthetic
from dpbayes.posteriors import noise_aware
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources import files
from dpbayes.sources.engines.count import MOST_CELLS, MOST_SETS, column_sets
from dpbayes.sources.named_networks import MAX_NODES, NAMED, full, load_named
from tests.browser.pictures import MOVING
from tests.strategies import sd_of_cells

ROOT = Path(__file__).parents[1]
DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
)
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS}

LARGEST_PICTURE, LARGEST_MOVING = 300_000, 1_200_000
"""Bytes that a picture has at most, and a moving one."""

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SUFFIXES = (".py", ".md", ".toml", ".txt", ".js", ".css", ".html", ".png", ".csv", ".gz", ".ini", ".cfg")
BROKEN_OFF = re.compile(r"\.{3}|[<>*()={}\s]")
"""What no path of this project holds, so that formulas and calls are not taken for paths."""


def blocks(text: str, language: str) -> list[str]:
    return [body for kind, body in FENCE.findall(text) if kind == language]


def quoted(text: str) -> list[str]:
    """What stands between single backticks, outside fenced blocks."""
    return re.findall(r"`([^`\n]+)`", FENCE.sub("", text))


def paths_in(text: str) -> set[str]:
    tokens = {token for token in quoted(text) if not BROKEN_OFF.search(token)}
    return {token for token in tokens if "/" in token or token.endswith(SUFFIXES)}


def examples() -> dict[str, list[tuple[str, str]]]:
    """Return the Python of each document with what it prints, in its order."""
    every: dict[str, list[tuple[str, str]]] = {}
    for name, text in TEXTS.items():
        for (kind, code), (following, output) in pairwise(FENCE.findall(text)):
            if (kind, following) == ("python", "text"):
                every.setdefault(name, []).append((code, output))
    return every


# Python


@pytest.mark.parametrize(("name", "blocks"), examples().items(), ids=examples())
def test_the_python_prints_what_the_document_shows(monkeypatch, capsys, tmp_path, name, blocks):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for code, output in blocks:
        exec(code, names)
        assert capsys.readouterr().out == output


def test_the_limits_of_large_tables_are_those_of_the_code():
    text = " ".join(TEXTS["docs/scale.md"].split())
    sets = len(column_sets(load_named("alarm")[0], []))
    for said in (f"at most {MOST_CELLS:,} joint cells", f"Alarm has {sets} sets", f"at most {MOST_SETS} sets"):
        assert said in text, said
    assert f"a network of at most {MAX_NODES:,} nodes" in text


def test_no_python_is_left_unchecked():
    assert sum(map(len, examples().values())) == sum(len(blocks(text, "python")) for text in TEXTS.values())
    assert blocks(TEXTS["README.md"], "python")
    assert blocks(TEXTS["ARCHITECTURE.md"], "python")


def test_the_declarations_of_a_file_are_read():
    (text,) = blocks(TEXTS["docs/your-table.md"], "toml")
    domains = {column.name: column.domain for column in dpbayes.read_domains(text)}
    assert {name: domain.public for name, domain in domains.items()} == dict.fromkeys(domains, True)
    assert [domains["smoker"].missing, domains["age"].limits] == ["missing", (0, 120)]
    assert domains["region"].values == (("N", "NE"), ("S",))


# What is named exists


def links(name: str, pattern: str) -> set[Path]:
    """The files that a document links to in places that match a pattern, seen from the document's folder."""
    targets = re.findall(pattern, FENCE.sub("", TEXTS[name]))
    return {((ROOT / name).parent / target).resolve() for target in targets if not target.startswith("https://")}


LINK, PICTURE = r"\]\(([^)#\s]+)", r"!\[[^\]]*\]\(([^)\s]+)\)"


def test_every_document_is_linked_from_the_readme_or_from_that_of_its_folder():
    linked = set.union(*(links(name, LINK) for name in DOCUMENTS if name.endswith("README.md")))
    assert {ROOT / name for name in DOCUMENTS} - linked == {ROOT / "README.md"}
    assert {path for path in links("README.md", LINK) if path.name == "README.md"} == set(
        (ROOT / "docs").rglob("README.md")
    )


HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors of a document's headings, as GitHub and the site make them."""
    headings = (re.sub(r"[`*]", "", heading) for heading in HEADING.findall(FENCE.sub("", text)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_picture_is_shown_and_small():
    pictures = set((ROOT / "docs").glob("*.png")) | {ROOT / MOVING}
    assert pictures == set.union(*(links(name, PICTURE) for name in DOCUMENTS))
    assert all(picture.stat().st_size < LARGEST_PICTURE for picture in pictures - {ROOT / MOVING})
    assert (ROOT / MOVING).stat().st_size < LARGEST_MOVING


def test_every_type_is_in_the_file_given_for_it():
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| `(dpbayes/[\w/]+)\.py` \|", TEXTS["ARCHITECTURE.md"], re.MULTILINE)
    assert len(rows) > 10
    for names, path in rows:
        module = importlib.import_module(path.replace("/", "."))
        for name in re.findall(r"\w+", names):
            assert getattr(module, name).__module__ == module.__name__, name


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_names_exists(name):
    text, later = TEXTS[name], {".venv", "build/site"}
    assert not [path for path in paths_in(text) - later if not (ROOT / path.removeprefix("/")).exists()]
    assert not [target for target in links(name, LINK) if not target.exists()]
    for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", FENCE.sub("", text)):
        path = ((ROOT / name).parent / target).resolve() if target else ROOT / name
        assert anchor in anchors(path.read_text(encoding="utf-8")), (target, anchor)
    named = [token for token in quoted(text) if re.fullmatch(r"test_\w+", token)]
    assert not [token for token in named if f"def {token}(" not in TESTS]
    assert set(re.findall(r"\bmake ([a-z]+)", commands(text))) <= makefile_targets()


TESTS = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))


# Commands


def makefile_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def commands(text: str) -> str:
    return "\n".join([*quoted(text), *blocks(text, "sh")])


def test_the_two_commands_come_first():
    assert re.findall(r"^make (\w+)", blocks(TEXTS["README.md"], "sh")[0], re.MULTILINE) == ["run", "test"]


def test_every_extra_is_listed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = re.findall(r"^\| `(\w+)` \|", TEXTS["docs/install.md"], re.MULTILINE)
    assert listed == list(project["optional-dependencies"])


# Layers, mechanisms, limits, papers, data


def test_the_layers_are_those_that_are_checked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = [c for c in project["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    (written,) = blocks(TEXTS["ARCHITECTURE.md"], "layers")
    assert written.split("\n")[:-1] == contracts[0]["layers"]


def test_the_layers_name_every_module():
    (written,) = blocks(TEXTS["ARCHITECTURE.md"], "layers")
    modules = {
        f"dpbayes.{p.stem}" for p in (ROOT / "dpbayes").iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()
    }
    assert set(re.findall(r"dpbayes\.\w+", written)) == modules - {"dpbayes.__init__", "dpbayes.__main__"}


def test_the_table_of_mechanisms_states_what_they_promise():
    prior, text = Dirichlets.symmetric(load_named("asia")[0]), TEXTS["docs/mechanisms.md"]
    kinds = {
        "Laplace": LaplaceUpdates(prior=prior, epsilon=1),
        "Fourier, proved": LaplaceFourier(prior=prior, epsilon=1),
        "Fourier, as stated in the paper": LaplaceFourier(prior=prior, epsilon=1, calibration=Calibration.AS_PRINTED),
        "Posterior sampling, proved": PosteriorSampler(prior=prior, epsilon=1),
        "Private MAP": MapExponential(prior=prior, epsilon=1),
    }
    for name, mechanism in kinds.items():
        row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
        assert row.endswith(f"| {mechanism.claimed.epsilon:.3g} and {mechanism.certified.epsilon:.3g} |")
    stated = text[: text.index("## What each mechanism releases")]
    assert all(re.search(rf"^\| {kind.label.split()[0]}\b", stated, re.MULTILINE) for kind in MECHANISMS)


def test_every_page_is_listed():
    text = (ROOT / "dpbayes" / "ui" / "app.py").read_text(encoding="utf-8")
    titles = re.findall(r'st\.Page\("pages/\w+\.py", title="([^"]+)", url_path=', text)
    listed = re.findall(r"^\| ([A-Z][\w ]+) \| [A-Z]", TEXTS["docs/dashboard.md"], re.MULTILINE)
    assert sorted(listed) == sorted(titles)


def test_the_limits_are_those_of_the_code():
    limits = {
        "states per node": network.MAX_STATES,
        "cells per network": network.MAX_CELLS,
        "cells per network, for a noise-aware posterior": noise_aware.MOST_CELLS,
        "parents per node, for Fourier": closure.MAX_FAMILY - 1,
        "nodes per network, in the dashboard": MAX_NODES,
        "records of a file or of a synthetic table": min(files.MAX_RECORDS, synthetic.MAX_RECORDS),
        "columns of a file": files.MAX_COLUMNS,
        "megabytes of a file": files.MAX_UPLOAD // 1_000_000,
        "megabytes of a workbook": files.MAX_WORKBOOK // 1_000_000,
        "megabytes of an unpacked workbook": files.MAX_PARTS // 1_000_000,
        "possible tables, for a proof by enumeration": enumeration.MOST_ENUMERATED,
    }
    rows = re.findall(r"^\| ([^|]+) \| ([0-9,]+) \|$", TEXTS["docs/limits.md"], re.MULTILINE)
    assert {name: int(number.replace(",", "")) for name, number in rows} == limits


def noise_of(kind, graph):
    """The root mean square over all cells of the standard deviation of the noise at an epsilon of 1."""
    return np.sqrt(np.mean(sd_of_cells(kind(prior=graph, epsilon=1.0)) ** 2))


def test_the_numbers_of_the_corrections():
    asia = load_named("asia")[0]
    said = " ".join(TEXTS["ARCHITECTURE.md"].split())
    assert f"Asia has |N_I| = {len(asia.closure)} and O = {asia.odd_overlap.value}." in said
    five, eight = (full(k) for k in (5, 8))
    less = noise_of(LaplaceUpdates, five) / noise_of(LaplaceFourier, five)
    more = noise_of(LaplaceFourier, eight) / noise_of(LaplaceUpdates, eight)
    assert f"Laplace adds {less:.2f} times as much noise as Fourier." in said
    assert f"Fourier adds {more:.2f} times as much noise as Laplace." in said


def test_every_paper_is_listed():
    assert not [paper.key for paper in PAPERS.values() if paper.link and paper.link not in TEXTS["docs/papers.md"]]


def test_every_network_is_listed():
    said = " ".join(TEXTS["docs/papers.md"].split())
    assert not [named.title for named in NAMED.values() if named.title not in said]


def test_the_version_has_its_entry():
    assert f"## [{dpbayes.__version__}] - " in TEXTS["CHANGELOG.md"]
