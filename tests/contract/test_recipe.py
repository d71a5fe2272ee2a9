"""A mechanism is one file and one line of the registry, and its audit another file: the recipe, followed to the letter.

A copy of the package gets geometric noise on counts; the dashboard of the copy is then opened and read.
"""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from dpbayes.audit.registry import AUDITS
from dpbayes.mechanisms import MECHANISMS, OF_RECORDS, PRIVATE
from dpbayes.mechanisms.base import OPTIONAL, Mechanism
from tests.copies import copied, python

ROOT = Path(__file__).parents[2]

MECHANISM = '''
"""Two-sided geometric noise on counts."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from dpbayes.base.looks import FREE
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.mechanisms.base import OfCounts, Prior
from dpbayes.mechanisms.parameters import EPSILON, Noise
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.dataset import Counts


@dataclass(frozen=True, kw_only=True)
class Geometric(OfCounts):
    """Z = clip(counts + G, 0, n), P(G = k) ~ exp(-a |k|), a = epsilon/(2|I|)."""

    label: ClassVar[str] = "Geometric"
    named: ClassVar[str] = "geometric noise"
    colour: ClassVar[str] = FREE[0]
    noise: ClassVar[Noise] = Noise.WHOLE
    facts: ClassVar[tuple[str, ...]] = ("epsilon",)
    prior: Prior = Prior()
    epsilon: Annotated[float, EPSILON]

    @property
    def formula(self) -> str:
        """The law of the noise."""
        return "$P(G = k) \\\\propto e^{-a|k|}$ in every cell."

    @property
    def rate(self) -> float:
        """a: what one count that moves by one loses."""
        return self.epsilon / max(1, self.prior.network.count_sensitivity)

    @property
    def noise_scale(self) -> float:
        """1/a."""
        return 1 / self.rate

    @property
    def certified(self) -> Guarantee:
        """epsilon: at most 2|I| counts move by one."""
        return Guarantee(self.epsilon, reference=Reference("Dwork06", "Laplace mechanism"))

    def outcome_for(self, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...]) -> ReleasedPosterior:
        """Draw noisy counts (*size, ..., K)."""
        shape = (2, *size, *statistic.values.shape)
        up, down = rng.geometric(-math.expm1(-self.rate), size=shape)
        updates = np.clip(statistic.values + up - down, 0, statistic.n).astype(np.float64)
        return ReleasedPosterior(self.prior, updates)
'''

AUDIT = '''
"""The audit of geometric noise on counts: each count that moves tells one of two things."""

import numpy as np
from scipy import special

from dpbayes.audit.entry import Audit
from dpbayes.mechanisms.finite import exact_curve
from dpbayes.audit.pictures import two_laws
from dpbayes.audit.report import DeltaCurve, Laws, WorstCase, checked_grid, pure_report
from dpbayes.audit.report import all_tables_text, checked_records, nothing_to_lose, opposites
from dpbayes.mechanisms.geometric import Geometric


def audit_geometric(mechanism, *, n, epsilons):
    grid, network = checked_grid(epsilons), mechanism.prior.network
    moved = network.count_sensitivity
    if not checked_records(n) or not moved:
        return nothing_to_lose(mechanism, grid)
    up = np.arange(moved + 1)
    ways = special.gammaln(moved + 1) - special.gammaln(up + 1) - special.gammaln(moved - up + 1)
    chances = [special.log_expit(sign * mechanism.rate) for sign in (1, -1)]
    table = np.stack([ways + up * one + (moved - up) * other for one, other in (chances, chances[::-1])])
    deltas = exact_curve(table, pairs=np.array([[0, 1], [1, 0]]), epsilons=grid)
    laws = Laws(tuple(f"{k} of {moved}" for k in up), *np.exp(table))
    worst = WorstCase(*opposites(network, n), "no count below the first table's, where it moves", laws)
    exact, curve = moved * mechanism.rate, DeltaCurve(grid, deltas, deltas)
    return pure_report(
        mechanism, exact=exact, at_least=exact, curve=curve, worst=worst, scope=all_tables_text(n)
    )


AUDIT = Audit(
    kind=Geometric,
    report=audit_geometric,
    picture=lambda mechanism, worst, n: two_laws(worst, x="counts that are not below the first table's"),
)
'''

QUESTIONS = """
import json

import pytest

import dpbayes
from dpbayes.ui.session.options import Experiment, Scene
from tests.pages import conftest
from tests.pages.conftest import boards, everything, frame_of, headline, open_page, unfold

conftest.own_navigation(pytest.MonkeyPatch())
small = {"source": "chain:2", "records": "20", "mechanism": "Geometric"}
few = {"accuracy.scene": Scene.NAIVE_BAYES.value, "accuracy.repeats": "40"}
release, audit = (open_page(f"pages/{page}.py", **small) for page in ("explore", "proofs"))
board = frame_of(boards(unfold(audit, "audit.details"))[0])
chosen = next((b for b in audit.selectbox if b.key == "parameter.audit.subject"), None)
lab = lambda experiment: open_page("pages/lab.py", **small, **few, **{"lab.experiment": experiment.value})
curves = frame_of(boards(lab(Experiment.ACCURACY))[0])["figures"]["accuracy"]["data"]
draws = {t["name"]: list(map(float, t["y"])) for t in curves if t.get("hovertemplate")}
answer = {
    "file": dpbayes.__file__,
    "release": [headline(release), everything(release)],
    "audited": [board["headline"], board["notes"][0].rstrip("."), board["captions"]["verdict"]],
    "audit": everything(audit),
    "pictures": sorted(board["figures"]),
    "subjects": chosen.options,
    "curves": draws,
    "compared": frame_of(boards(lab(Experiment.COMPARISON))[0])["figures"]["here"]["data"][2]["text"],
}
print("ANSWER" + json.dumps(answer))
"""


def one_more(path: Path, start: str, entry: str, imported: str) -> None:
    """Put an import at the head of a registry, and an entry at the end of its tuple."""
    text = path.read_text(encoding="utf-8")
    at = text.index("\n)", text.index(start))
    first = text.index("\nfrom dpbayes.") + 1
    path.write_text(text[:first] + imported + text[first:at] + f"\n    {entry}," + text[at:], encoding="utf-8")


def with_one_more(folder: Path) -> Path:
    """A copy of the dashboard that has followed the recipe."""
    copied(folder)
    package = folder / "dpbayes"
    (package / "mechanisms" / "geometric.py").write_text(MECHANISM.lstrip(), encoding="utf-8")
    line = "from dpbayes.mechanisms.geometric import Geometric\n"
    one_more(package / "mechanisms" / "__init__.py", "REGISTRY = ", 'Registered("geometric", Geometric)', line)
    (package / "audit" / "geometric.py").write_text(AUDIT.lstrip(), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that has followed all of the recipe."""
    return with_one_more(tmp_path_factory.mktemp("recipe"))


def answers_of(folder: Path) -> dict[str, Any]:
    """What the pages of a copy show of its new mechanism."""
    answer: dict[str, Any] = json.loads(python(folder, "-c", QUESTIONS).partition("ANSWER")[2])
    assert Path(answer["file"]).is_relative_to(folder)
    return answer


def test_a_mechanism_and_its_audit_are_on_every_page_after_two_files_and_one_line(recipe: Path) -> None:
    answer = answers_of(recipe)
    assert "Geometric" in answer["release"][1]
    assert "comes out as" in answer["release"][0]
    assert answer["audited"][1].startswith("One changed record makes a release at most 2.72 times as likely")
    assert "Stated and proved: Dwork et al. 2006, Laplace mechanism." in answer["audited"][-1]
    assert "Geometric" in answer["subjects"]
    assert answer["pictures"] == ["guesses", "verdict", "worst"]
    assert "$P(G = k)" in answer["audit"]
    geometric, laplace, exact = (answer["curves"][name] for name in ("Geometric", "Laplace", "without privacy"))
    assert geometric[0] < geometric[-1]
    assert geometric[-1] == pytest.approx(exact[-1], abs=0.01), "there is next to no noise at ε = 100"
    assert geometric == pytest.approx(laplace, abs=0.1)
    assert "<b>Geometric: " in "".join(answer["compared"])


def test_the_contract_of_all_mechanisms_runs_on_the_new_one(recipe: Path) -> None:
    words = ("-p", "no:cacheprovider", "-q", "--rootdir", str(recipe), "-k", "Geometric")
    said = python(recipe, "-m", "pytest", *words, "tests/contract/test_mechanisms.py")
    assert len(re.findall(r"^\.+", said)[0]) >= 21


# Nothing else knows a mechanism by name

ALL_KINDS = {*MECHANISMS, *(audit.kind for audit in AUDITS)}
KINDS = {kind.__name__ for kind in ALL_KINDS}
LABELS = {kind.label for kind in ALL_KINDS if hasattr(kind, "label")} - {""}

ABOUT = {
    "ui/session/options.py": "one of its labels is of the paper's MAP, which saved links call otherwise",
    "experiments/arrows.py": "arrows are priced by the paper's first mechanism",
    "experiments/sampling.py": "the query game is played with the sampler",
    "experiments/regression_scenario.py": "the experiment is about the regression sampler",
    "experiments/regression.py": "the experiment is about the regression sampler",
    "experiments/die.py": "Laplace noise on a die has the colour of Laplace noise on a network",
    "ui/pages/lab.py": "one of its experiments is about the sampler",
    "experiments/epsilon_curves.py": "Theorem 1 of the paper bounds the divergence of Laplace noise",
    "ui/pages/home.py": "its example is the one that Explore begins with",
    "boards/accuracy.py": "the noises of the paper's first two mechanisms stand side by side",
    "boards/sampling.py": "the board is about the sampler",
    "boards/regression.py": "the board is about the regression sampler",
    "boards/explore.py": "the errors of the paper's first two mechanisms stand side by side",
    "boards/curator.py": "one axis for all mechanisms is that of the paper's first one",
    "boards/against_epsilon.py": "the signs of counts are compared with those of Fourier",
    "boards/of_table.py": "the defaults of the board are the paper's first two mechanisms",
    "ui/pages/explore_rail.py": "only Fourier needs binary columns, for which groups of states are offered",
    "ui/pages/explore.py": "the signs of counts are compared with those of Fourier, which are lifted",
    "experiments/accuracy/methods.py": "the curves of the paper's figure, and those of noise-aware recipients",
    "experiments/accuracy/plan.py": "the lift of Fourier releases is simulated once for all of them",
    "ui/pages/proofs_mechanism.py": "its examples lead to the mechanisms in which a fault is corrected",
}
"""The modules that are about certain mechanisms, and why they name them."""


def named_in(path: Path) -> set[str]:
    """The mechanisms that a module's code names, as Python reads it; also in a string that is a name or a label."""
    names, texts = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
    return (names & KINDS) | (texts & (KINDS | LABELS))


def own_of(path: Path) -> set[str]:
    """The mechanisms of this module, and of the module or the folder of the same name: an audit is about those."""
    homes = f"dpbayes.mechanisms.{path.stem}.", f"dpbayes.audit.{path.stem}."
    return {kind.__name__ for kind in ALL_KINDS if f"{kind.__module__}.".startswith(homes)}


def test_no_page_no_experiment_and_no_other_s_audit_knows_a_mechanism_by_name_but_those_that_are_about_it() -> None:
    package = ROOT / "dpbayes"
    modules = [
        path
        for folder in ("ui", "boards", "experiments", "figures", "releases/commands")
        for path in (package / folder).rglob("*.py")
    ]
    naming = {path.relative_to(package).as_posix() for path in modules if named_in(path)}
    audits = (package / "audit").rglob("*.py")
    naming |= {path.relative_to(package).as_posix() for path in audits if named_in(path) - own_of(path)}
    assert sorted(naming - set(ABOUT)) == []
    assert sorted(set(ABOUT) - naming) == [], "what is no longer so is taken off the list"


def test_optional_members_of_a_mechanism_are_listed_beside_the_protocol() -> None:
    every = {name for kind in (*MECHANISMS, *OF_RECORDS) for name in (*dir(kind), *kind.__dataclass_fields__)}
    assert sorted(set(OPTIONAL) - every) == []
    assert not set(OPTIONAL) & set(dir(Mechanism))


def test_what_is_audited_is_what_may_be_released_and_more() -> None:
    assert {kind for kind in PRIVATE} <= {audit.kind for audit in AUDITS}
    assert len({audit.kind for audit in AUDITS}) == len(AUDITS)
