"""The package that is built from the repository works where there is no repository."""

import ast
import json
import os
import pydoc
import re
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import venv
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.NewSession_pb2 import NewSession

import dpbayes
from dpbayes.__main__ import COMMANDS, main
from dpbayes.base.libraries import extra
from dpbayes.base.validation import InputError
from dpbayes.releases.output import HOLDS, REFUSED
from dpbayes.ui.server.serve import PORT
from dpbayes.ui.session.connections import CONNECT, DATA_ROOT
from dpbayes.ui.session.roles import TOKEN, cookie_name
from dpbayes.ui.widgets.show import WENT_WRONG
from tests.browser.serving import CURATORS, free_port, server_process
from tests.releases.made import opened, written
from tests.test_docs import ROOT, TEXTS, blocks
from tests.wire import received

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def built(target: str, project: Path, folder: Path) -> Path:
    """Build a wheel or an sdist of a project into a folder, and return the file."""
    # The build backend is called directly: it is installed, and pip would look for it on the internet.
    build = f"import sys, hatchling.build as backend; backend.build_{target}(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=project, check=True, capture_output=True)
    (file,) = folder.iterdir()
    return file


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel is unpacked, as installing it does."""
    site = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(site)
    return site


QUESTIONS = {
    "face": """
import dpbayes as dp
print(sorted(n for n in dir(dp) if n not in ("estimators", "plot")))
""",
    "scipy.stats": """
import sys, dpbayes
print('scipy.stats' in sys.modules)
""",
    "screen": """
import sys, dpbayes.audit.registry, dpbayes.mechanisms, dpbayes.experiments.releases
print({'streamlit', 'plotly'} & set(sys.modules))
""",
    "tables": """
from dpbayes.sources.shipped_tables import SHIPPED, load_shipped
print([load_shipped(key).n for key in SHIPPED])
""",
    "late": """
import sys, dpbayes.releases.publishing, dpbayes.releases.verify
print({'opendp', 'dp_accounting', 'platformdirs'} & set(sys.modules))
""",
    "where": "import dpbayes; print(dpbayes.__file__)",
    "README": blocks(TEXTS["README.md"], "python")[0],
}
"""What is asked of the installed package; first that of which it matters what has been imported by then."""

ASK = """
import contextlib, io, json, sys, traceback

said = {}
for name, code in json.load(sys.stdin).items():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            exec(code, {"__name__": "__main__"})
        except Exception:
            print(traceback.format_exc())
    said[name] = out.getvalue()
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(site: Path) -> dict[str, str]:
    """What the package prints to each question, in one Python of its own with nothing of the repository on its path."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    environment |= {"PYTHONPATH": str(site), "PYTHONIOENCODING": "utf-8"}
    command, questions = [sys.executable, "-W", "error", "-c", ASK], json.dumps(QUESTIONS)
    ran = subprocess.run(command, cwd=site, env=environment, input=questions, capture_output=True, encoding="utf-8")
    assert ran.returncode == 0, ran.stderr
    answers: dict[str, str] = json.loads(ran.stdout)
    return answers


def test_the_readmes_example_runs_from_the_wheel(site, said):
    assert Path(said["where"].strip()).is_relative_to(site)
    assert said["README"] == blocks(TEXTS["README.md"], "text")[0]
    assert "48842" in said["tables"]


def test_a_part_of_the_package_imports_only_what_it_needs(said):
    assert [said[name] for name in ("late", "screen", "scipy.stats")] == ["set()\n", "set()\n", "False\n"]


def test_the_face_has_all_that_it_promises_and_every_name_stands_in_a_package(said):
    assert ast.literal_eval(said["face"]) == sorted(dpbayes.__all__)
    assert len(dpbayes.__all__) == len(set(dpbayes.__all__))
    with pytest.raises(AttributeError, match="module 'dpbayes' has no attribute 'nonsense'"):
        dpbayes.nonsense  # noqa: B018


def test_classifiers_without_scikit_learn_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "dpbayes.estimators", raising=False)
    with pytest.raises(InputError, match=r'needs sklearn, .*: pip install "dpbayes\[sklearn\]"'):
        _ = dpbayes.estimators
    assert "plot" in dir(dpbayes)
    assert "package dpbayes" in pydoc.render_doc(dpbayes)  # which imports each name of dir()


def test_the_wheel_says_what_it_is_and_under_which_licences(site):
    (folder,) = site.glob("*.dist-info")
    metadata = PathDistribution(folder).metadata
    assert metadata["License-Expression"].startswith("MIT AND ")
    assert len([*site.rglob("PROVENANCE.md")]) == 1
    page = metadata.get_payload()
    assert re.findall(r"\]\((?!https://|#)[^)]*\)", page) == []
    assert "](https://github.com/dpbayes/dpbayes/blob/main/docs/limits.md)" in page
    assert (folder / "licenses" / "LICENSE").read_text().startswith("MIT License")
    assert (site / "dpbayes" / "py.typed").exists()


def test_the_wheel_has_the_dashboard_of_the_checkout(site):
    inside = site / "dpbayes" / "dashboard"
    files = {path.relative_to(inside) for path in inside.rglob("*") if path.is_file()}
    assert {Path("app.py"), Path("pages/home.py"), Path(".streamlit/config.toml")} < files
    assert all((inside / file).read_bytes() == (ROOT / file).read_bytes() for file in files)
    for folder in ("pages", "static", ".streamlit"):
        own = {path.relative_to(ROOT) for path in (ROOT / folder).iterdir() if path.is_file()}
        assert own == {file for file in files if file.parts[0] == folder}


def test_the_wheel_of_the_sdist_is_the_wheel_of_the_checkout(wheel, tmp_path):
    for folder in ("sdist", "unpacked", "wheel"):
        (tmp_path / folder).mkdir()
    with tarfile.open(built("sdist", ROOT, tmp_path / "sdist")) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (project,) = (tmp_path / "unpacked").iterdir()
    assert not [*project.rglob("test_*.py")], "tests that cannot be collected"
    assert contents(built("wheel", project, tmp_path / "wheel")) == contents(wheel)


def contents(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as archive:
        return {file.filename: file.CRC for file in archive.infolist()}


def test_what_is_tested_lies_in_the_ranges_that_are_promised():
    extras = (r for extra in PROJECT["optional-dependencies"].values() for r in extra)
    ranges = [*PROJECT["dependencies"], *(r for r in extras if Requirement(r).name != PROJECT["name"])]
    promised = {Requirement(text).name: Requirement(text).specifier for text in ranges}
    endings = ("", "-engines", "-interchange")
    files = [(ROOT / f"requirements{ending}.txt").read_text(encoding="utf-8") for ending in endings]
    lines = [line.split("==") for line in "".join(files).splitlines() if not line.startswith(("#", "-r"))]
    tools = {"pytest", "hypothesis", "pyagrum"}  # pyAgrum only reads the files that are written
    pins = {Requirement(name).name: version for name, version in lines if name not in tools}
    assert set(promised) == set(pins)
    assert all(promised[name].contains(version) for name, version in pins.items())
    assert all("==" not in text and "<" in text for text in ranges)


# Installed


@pytest.fixture(scope="session")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new environment, into which the wheel is installed, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    programs = folder / "bin"
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", str(wheel)], check=True)
    return programs


@pytest.fixture(scope="session")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A function that returns a folder with what `pip install "dpbayes[extra]"` installs beside dpbayes, "" for none.

    It has the very packages that pyproject.toml asks for, and those that these require, of the tests' environment.
    """

    @cache
    def folder_of(extra: str) -> Path:
        folder = (
            tmp_path_factory.mktemp(f"modules-{extra}") / "site-packages"
        )  # without it Streamlit takes itself for a checkout
        folder.mkdir()
        texts = PROJECT["dependencies"] + (PROJECT["optional-dependencies"][extra] if extra else [])
        for package in map(distribution, required(texts)):
            for name in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
                if not (folder / name).exists():  # packages may share a folder
                    (folder / name).symlink_to(package.locate_file(name))
        return folder

    return folder_of


def required(texts: Iterable[str], extras: Iterable[str] = ()) -> set[str]:
    """Return the packages that requirements come to, under these extras, with all that they require in turn."""
    packages = set()
    for requirement in map(Requirement, texts):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            packages |= {requirement.name} | required(distribution(requirement.name).requires or (), requirement.extras)
    return packages


@pytest.fixture
def run(programs: Path, modules: Callable[[str], Path], tmp_path: Path) -> Callable[..., subprocess.CompletedProcess]:
    """A function that runs a program of the environment, with the packages of an extra, in a folder of its own."""

    def run(extra: str, *command: str) -> subprocess.CompletedProcess[str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "DPBAYES"))}
        environment |= {"PYTHONPATH": str(modules(extra)), "PYTHONIOENCODING": "utf-8", "HOME": str(tmp_path)}
        command = (str(programs / command[0]), *command[1:])
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", timeout=120
        )

    return run


SCRIPT, MODULE = ("dpbayes",), ("python", "-m", "dpbayes")
GARDEN = ("--ledger", "ledger.sqlite", "--dataset", "garden", "--data", "garden.csv", "--domains", "domains.json")
RELEASE = (*SCRIPT, "release", *GARDEN, "--network", "rain -> grass", "--mechanism", "laplace", "--epsilon", "1")
SOURCE = tuple(word for word in RELEASE if word not in ("--data", "garden.csv"))
SOURCE = (*SOURCE, "--graph-unseen", "--out", "release.json", "--source")


@pytest.mark.parametrize("program", [SCRIPT, MODULE])
def test_version_and_help_need_no_extra(run, program):
    assert run("", *program, "--version").stdout == f"dpbayes {dpbayes.__version__}\n"
    said = run("", *program, "--help").stdout
    assert said.startswith(f"usage: {' '.join(program)} ")
    assert all(word in said for word in (f"default: {PORT}", DATA_ROOT, CONNECT, *COMMANDS))


LACKS = '{} needs {}, which is not installed here: pip install "dpbayes[{}]".'
LACKS_DRIVER = '{} needs a driver that is not installed: pip install "dpbayes[{}]".'
DASHBOARD = LACKS.format("The dashboard", "streamlit", "app")
LEDGER = LACKS.format("The default path of the ledger", "platformdirs", "release")
OPENDP = LACKS.format("A real release", "opendp", "release")


@pytest.mark.parametrize(
    ("installed", "command", "sentence"),
    [
        *((installed, SCRIPT, DASHBOARD) for installed in ("", "release", "engines")),
        ("", MODULE, DASHBOARD),
        *((installed, (*SCRIPT, "ledger", "list"), LEDGER) for installed in ("", "app", "engines")),
        ("", (*RELEASE, "--graph-unseen", "--out", "release.json"), OPENDP),
        ("", (*SCRIPT, "adaptive", *GARDEN, "--epsilon", "1", "--out", "release.json"), OPENDP),
        ("", (*SOURCE, "duckdb:garden.duckdb?table=garden"), LACKS_DRIVER.format("DuckDB", "engines")),
        ("engines", (*SOURCE, "postgresql://h/d?table=garden"), LACKS_DRIVER.format("PostgreSQL", "postgres")),
        ("engines", (*SOURCE, "spark:local[1]?table=garden"), LACKS_DRIVER.format("Spark", "spark")),
    ],
)
def test_what_an_installation_lacks_is_one_sentence_that_says_what_to_install(
    run, tmp_path, capsys, installed, command, sentence
):
    written(tmp_path)
    opened(tmp_path)
    ran = run(installed, *command)
    assert (ran.returncode, ran.stdout, ran.stderr) == (REFUSED, "", f"{sentence}\n")
    assert main(["ledger", "--ledger", str(tmp_path / "ledger.sqlite"), "list"]) == HOLDS
    said = "garden: released 0, reserved without a release 0. The remaining budget is 2 of 2.\n"
    assert capsys.readouterr().out == said


WITHOUT = """
import sys

import dpbayes as dp

sys.modules["pyarrow"] = None
frame = dp.read_table("garden.csv", b"rain,grass\\nno,dry\\nyes,wet\\n").frame
table = dp.Table.from_frame(frame, {"rain": ["no", "yes"], "grass": ["dry", "wet"]})
print(table.to_frame().to_dict("list"), table.n)
ledger = dp.open_ledger("garden.ledger", epsilon=1, reason="a test")
mechanism = dp.LaplaceUpdates(prior=dp.network("rain -> grass", table), epsilon=1)
print(dp.release(table, mechanism, graph_unseen=True, ledger=ledger).guarantee)
try:
    dp.read_table("garden.parquet", b"PAR1")
except dp.InputError as error:
    print(error)
"""
"""Reads a table from text and releases it, in a Python that has no pyarrow."""


def test_only_parquet_files_need_pyarrow(run):
    ran = run("release", "python", "-c", WITHOUT)
    records, guarantee, refused = ran.stdout.splitlines()
    assert records == "{'rain': ['no', 'yes'], 'grass': ['dry', 'wet']} 2"
    assert guarantee == "ε = 1"
    assert refused == LACKS.format("Reading Parquet", "pyarrow", "parquet")


def test_a_package_that_this_program_itself_lacks_is_no_matter_of_an_extra():
    with pytest.raises(ModuleNotFoundError, match=r"dpbayes\.nowhere"), extra("app", "The dashboard"):
        import_module("dpbayes.nowhere")


@pytest.fixture(scope="module")
def dashboard(
    programs: Path, modules: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of the installed dashboard, started in an empty folder with the packages of its extra alone."""
    port, folder = free_port(), tmp_path_factory.mktemp("empty")
    url = f"http://127.0.0.1:{port}"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DPBAYES_LEDGER", raising=False)
        patch.setenv(TOKEN, CURATORS)
        with server_process([str(programs / "dpbayes"), "--port", str(port)], url, cwd=folder, path=modules("app")):
            yield url


def shown(url: str, page: str) -> tuple[NewSession, list[Element]]:
    """Return how a page begins, and what it shows, as the curator's browser receives them."""
    messages = received(url, page, headers={"Cookie": f"{cookie_name(url)}={CURATORS}"})
    (session,) = [message.new_session for message in messages if message.HasField("new_session")]
    return session, [message.delta.new_element for message in messages if message.HasField("delta")]


def test_the_installed_dashboard_serves_its_script_of_charts(dashboard):
    """Only under its own configuration does Streamlit serve files at all."""
    with urllib.request.urlopen(f"{dashboard}/app/static/plotly-cartesian.min.js") as answer:
        assert answer.read() == (ROOT / "static" / "plotly-cartesian.min.js").read_bytes()


@pytest.mark.parametrize("page", ["", "explore", "proofs"])
def test_the_installed_dashboard_runs_its_pages(dashboard, page):
    session, elements = shown(dashboard, page)
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    assert session.custom_theme.light.primary_color == theme["light"]["primaryColor"]
    titles = {element.heading.body for element in elements if element.heading.tag == "h1"}
    assert titles == {page.capitalize() or "dpbayes"}
    assert not [element for element in elements if element.HasField("exception")]
    assert WENT_WRONG not in str(elements)


def test_the_installed_dashboard_says_what_its_ledger_needs(dashboard):
    alerts = [element.alert.body for element in shown(dashboard, "release")[1] if element.HasField("alert")]
    assert [markdown.replace("\\", "") for markdown in alerts] == [LEDGER]
