"""What the documents say is true: their Python runs and prints what they show, and what they name exists."""

import importlib
import math
import re
import tomllib
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

import dpbayes
from benchmarks import engines_run
from dpbayes.base.references import PAPERS
from dpbayes.experiments.structure import structure_cost
from dpbayes.mechanisms import (
    MECHANISMS,
    Calibration,
    LaplaceFourier,
    LaplaceUpdates,
    MapExponential,
    PosteriorSampler,
)
from dpbayes.mechanisms.structure.choice import MOST_PAIRS, StructureChoice, pair_count
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.engines.clusters import clusters
from dpbayes.sources.named_networks import MAX_NODES, NAMED, full, load_named
from tests.browser.pictures import PICTURES

ROOT = Path(__file__).parents[1]
DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/calibration.md",
    "docs/epsilon.md",
    "docs/release.md",
    "docs/scale.md",
    "docs/serving.md",
    "docs/stories.md",
)
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS}

LARGEST_PICTURE = 300_000
"""Bytes that a picture has at most."""

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


def examples() -> list[pytest.param]:
    every = []
    for name, text in TEXTS.items():
        fences = FENCE.findall(text)
        for (kind, code), (following, output) in pairwise(fences):
            if (kind, following) == ("python", "text"):
                every.append(pytest.param(code, output, id=f"{name} {len(every) + 1}"))
    return every


# Python


@pytest.mark.parametrize(("code", "output"), examples())
def test_the_python_prints_what_the_document_shows(monkeypatch, capsys, code, output):
    monkeypatch.chdir(ROOT)
    exec(code, {"__name__": "__main__"})
    assert capsys.readouterr().out == output


def test_what_is_reckoned_of_large_tables_follows_from_what_was_measured_and_from_the_code():
    text = " ".join(TEXTS["docs/scale.md"].split())
    net = engines_run.network()
    codes = [math.prod(net.cards[list(each.nodes)].tolist()) for each in clusters(net)]
    (measured,) = re.findall(r"\| Spark [^|]*\| 10⁷ \| ([0-9.]+) s \|", text)
    cores = float(measured) * 1e5  # seconds of one core for 10¹² records
    (tasks,) = re.findall(r"([0-9,]+) of 128 MB in 2\.8 TB", text)
    assert int(tasks.replace(",", "")) == pytest.approx(2.8e12 / 128e6, rel=0.02)
    shuffled = int(tasks.replace(",", "")) * sum(codes) * 24
    for said in (
        f"| {cores / 1000 / 60:.0f} minutes, {round(cores / 3600, -1):.0f} hours of a core",
        f"| {cores / 1e6:.1f} seconds of each core",
        f"{net.cell_count} of 8 bytes",
        f"clusters of {codes[0]:,}, {codes[1]:,} and {codes[2]} codes make {round(sum(codes) * 20 / 1000)} kB",
        f"{tasks} × {sum(codes):,} × 24 bytes, {shuffled / 1e9:.1f} GB",
        f"a network of more than {MAX_NODES:,} nodes",
        f"at most {MOST_PAIRS:,} pairs of a node and its parents",
    ):
        assert said in text, said
    widest = []
    for parents in (1, 2, 3):
        choice = StructureChoice(epsilon=Fraction(1), parents=parents)
        widest.append(max(d for d in range(2, 300) if pair_count(choice, d) <= MOST_PAIRS))
    assert "{} columns with one parent each, {} with up to two, {} with up to three".format(*widest) in text


def test_no_python_is_left_unchecked():
    assert len(examples()) == sum(len(blocks(text, "python")) for text in TEXTS.values())
    assert blocks(TEXTS["README.md"], "python")
    assert blocks(TEXTS["ARCHITECTURE.md"], "python")


# What is named exists


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_path_exists(name):
    later = {".venv"}
    assert not [path for path in paths_in(TEXTS[name]) - later if not (ROOT / path.removeprefix("/")).exists()]


def test_paths_are_told_from_other_code():
    text = "`dpbayes/x.py`, `README.md`, `data/`; `(..., K)`, `a / b`, `make run`, `Release`, `numpy`\n"
    assert paths_in(text) == {"dpbayes/x.py", "README.md", "data/"}


def test_the_documents_name_many_paths():
    assert len(set.union(*map(paths_in, TEXTS.values()))) > 30


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_linked_file_exists(name):
    targets = re.findall(r"\]\(([^)#\s]+)", TEXTS[name])
    assert not [t for t in targets if not t.startswith("https://") and not (ROOT / t).exists()]


def test_pictures_are_small():
    pictures = sorted((ROOT / "docs").glob("*.png"))
    assert {f"docs/{picture.name}" for picture in pictures} <= set(re.findall(r"\]\(([^)]+)\)", TEXTS["README.md"]))
    assert all(picture.stat().st_size < LARGEST_PICTURE for picture in pictures)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_picture_that_is_shown_is_taken_by_make_pictures(name):
    shown = {(ROOT / name).parent / target for target in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", TEXTS[name])}
    assert shown <= {ROOT / picture for picture in PICTURES}
    assert shown or name != "README.md"


def test_every_type_is_in_the_file_given_for_it():
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| `(dpbayes/[\w/]+)\.py` \|", TEXTS["ARCHITECTURE.md"], re.MULTILINE)
    assert len(rows) > 10
    for names, path in rows:
        module = importlib.import_module(path.replace("/", "."))
        for name in re.findall(r"\w+", names):
            assert getattr(module, name).__module__ == module.__name__, name


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_test_that_is_named_exists(name):
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = [token for token in quoted(TEXTS[name]) if re.fullmatch(r"test_\w+", token)]
    assert not [token for token in named if f"def {token}(" not in tests]


# Commands


def makefile_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def commands(text: str) -> str:
    return "\n".join([*quoted(text), *blocks(text, "sh")])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_make_target_exists(name):
    assert set(re.findall(r"\bmake ([a-z]+)", commands(TEXTS[name]))) <= makefile_targets()


def test_the_two_commands_come_first():
    assert re.findall(r"^make (\w+)", blocks(TEXTS["README.md"], "sh")[0], re.MULTILINE) == ["run", "test"]


def recipe(*targets: str) -> list[str]:
    """The Makefile's own commands for these targets, with its variables filled in."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(BIN)", ".venv/bin")
    lines = [re.search(rf"^{target}:.*\n((?:\t.*\n)*)", text, re.MULTILINE) for target in targets]
    return [command.strip() for line in lines if line for command in line[1].splitlines()]


def test_the_raw_lines_are_those_of_the_makefile():
    run, test = blocks(TEXTS["README.md"], "sh")[1:3]
    assert run.strip().split(" && ")[2:] == [line.replace("$(PORT)", "8501") for line in recipe("run")]
    assert test.strip().splitlines()[-1].split(" && ")[2:] == recipe("check", "unit", "browser")


# Layers, mechanisms, papers, data


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
    prior = Dirichlets.symmetric(load_named("asia")[0])
    kinds = {
        "Laplace": LaplaceUpdates(prior=prior, epsilon=1),
        "Fourier, certified noise": LaplaceFourier(prior=prior, epsilon=1),
        "Fourier, as printed": LaplaceFourier(prior=prior, epsilon=1, calibration=Calibration.AS_PRINTED),
        "Posterior sampling, certified": PosteriorSampler(prior=prior, epsilon=1),
        "Private MAP": MapExponential(prior=prior, epsilon=1),
    }
    for name, mechanism in kinds.items():
        row = next(line for line in TEXTS["README.md"].splitlines() if line.startswith(f"| {name} |"))
        assert row.endswith(f"| {mechanism.claimed.epsilon:.3g} and {mechanism.certified.epsilon:.3g} |")
    assert all(re.search(rf"^\| {kind.label.split()[0]}\b", TEXTS["README.md"], re.MULTILINE) for kind in MECHANISMS)


def test_the_numbers_of_the_corrections():
    closure = load_named("asia")[0].closure
    said = " ".join(TEXTS["ARCHITECTURE.md"].split())
    assert f"Asia has |N_I| = {len(closure)} and O = {closure.odd_overlap.value}." in said
    five, eight = (structure_cost(full(k), 1.0) for k in (5, 8))
    less, more = five.laplace_noise / five.fourier_noise, eight.fourier_noise / eight.laplace_noise
    assert f"Laplace adds {less:.2f} times as much noise, on that of eight Fourier adds {more:.2f}" in said


def test_every_paper_is_listed():
    assert not [paper.key for paper in PAPERS.values() if paper.link and paper.link not in TEXTS["README.md"]]


def test_every_network_is_listed():
    said = " ".join(TEXTS["README.md"].split())
    assert not [network.title for network in NAMED.values() if network.title not in said]


def test_the_version_has_its_entry():
    assert f"## [{dpbayes.__version__}] - " in TEXTS["CHANGELOG.md"]
