"""The package that is built from the repository works where there is no repository."""

import ast
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import dpbayes
from tests.test_docs import ROOT, TEXTS, blocks

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel is unpacked, as installing it does."""
    wheels, site = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site")
    # The build backend is called directly: it is installed, and pip would look for it on the internet.
    build = "import sys, hatchling.build as backend; backend.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(wheels)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = wheels.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)
    return site


ASKED = {
    "face": """
import dpbayes as dp, types
print(sorted(n for n in dir(dp) if not isinstance(getattr(dp, n), types.ModuleType)))
""",
    "scipy.stats": """
import sys, dpbayes
print('scipy.stats' in sys.modules)
""",
    "screen": """
import sys, dpbayes.audit.recalibration, dpbayes.mechanisms, dpbayes.experiments.releases
print({'streamlit', 'plotly'} & set(sys.modules))
""",
    "tables": """
from dpbayes.sources.shipped_tables import SHIPPED, load_shipped
print([load_shipped(key).n for key in SHIPPED])
""",
    "work": """
import numpy as np, dpbayes as dp
network = dp.network("rain -> grass; sun -> grass")
rng = np.random.default_rng(1)
counts = dp.count(network, dp.sample_dataset(network, np.full(network.cell_count, 0.5), 100, rng))
mechanism = dp.LaplaceUpdates(prior=network, epsilon=2)
answer = mechanism.release(counts, rng).posterior.query("grass", {"rain": "yes"})
report = dp.audit_report(mechanism, n=100, epsilons=[2])
print(answer.shape, answer.sum().round(9), report.exact, dp.recalibrated(mechanism, n=100, target=1).epsilon)
""",
    "late": """
import sys, dpbayes.releases.make, dpbayes.releases.verify
print({'opendp', 'jsonschema', 'dp_accounting', 'platformdirs'} & set(sys.modules))
""",
    "schema": """
from dpbayes.releases.verify import schema
print(schema()['title'])
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
    command, asked = [sys.executable, "-W", "error", "-c", ASK], json.dumps(ASKED)
    ran = subprocess.run(command, cwd=site, env=environment, input=asked, capture_output=True, encoding="utf-8")
    assert ran.returncode == 0, ran.stderr
    answers: dict[str, str] = json.loads(ran.stdout)
    return answers


def test_the_readmes_example_runs_from_the_wheel(site, said):
    assert Path(said["where"].strip()).is_relative_to(site)
    assert said["README"] == blocks(TEXTS["README.md"], "text")[0]


def test_the_shipped_tables_are_in_the_wheel(said):
    assert "48842" in said["tables"]


def test_the_schema_of_a_release_is_in_the_wheel(said):
    assert said["schema"] == "A release of dpbayes\n"


def test_what_a_real_release_takes_is_imported_where_it_is_used(said):
    assert said["late"] == "set()\n"


def test_the_core_needs_neither_streamlit_nor_plotly(said):
    assert said["screen"] == "set()\n"


def test_the_face_has_all_that_it_promises_and_every_name_stands_in_a_package(said):
    assert ast.literal_eval(said["face"]) == sorted(dpbayes.__all__)
    assert len(dpbayes.__all__) == len(set(dpbayes.__all__))
    with pytest.raises(AttributeError, match="module 'dpbayes' has no attribute 'nonsense'"):
        dpbayes.nonsense  # noqa: B018


def test_a_network_is_written_counted_released_queried_and_audited_with_the_face_alone(said):
    shape, total, exact, epsilon = said["work"].rsplit(maxsplit=3)
    assert (shape, float(total), float(exact)) == ("(2,)", 1.0, 2.0)
    assert 0.999 < float(epsilon) <= 1


def test_importing_the_package_does_not_import_the_whole_of_scipy_stats(said):
    """It would take longer than all else together."""
    assert said["scipy.stats"] == "False\n"


def test_the_wheel_says_what_it_is_and_under_which_licences(site):
    (folder,) = site.glob("*.dist-info")
    metadata = PathDistribution(folder).metadata
    assert metadata["License-Expression"].startswith("MIT AND ")
    assert {path.name for path in (folder / "licenses").rglob("*.*") or ()} == {"PROVENANCE.md"}
    assert (folder / "licenses" / "LICENSE").read_text().startswith("MIT License")
    assert (site / "dpbayes" / "py.typed").exists()


def test_what_is_tested_lies_in_the_ranges_that_are_promised():
    extras = (r for extra in PROJECT["optional-dependencies"].values() for r in extra)
    ranges = [*PROJECT["dependencies"], *(r for r in extras if Requirement(r).name != PROJECT["name"])]
    promised = {Requirement(text).name: Requirement(text).specifier for text in ranges}
    files = [(ROOT / name).read_text(encoding="utf-8") for name in ("requirements.txt", "requirements-engines.txt")]
    lines = [line.split("==") for line in "".join(files).splitlines() if not line.startswith(("#", "-r"))]
    pins = {Requirement(name).name: version for name, version in lines}
    assert set(promised) == set(pins)
    assert all(promised[name].contains(version) for name, version in pins.items())
    assert all("==" not in text and "<" in text for text in ranges)
