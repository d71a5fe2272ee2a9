"""One claim is one entry in one file: whatever a topic's module lists is in the index and on the Proofs page."""

import ast
import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dpbayes.theory.claims.claim import Claim
from dpbayes.theory.index import CLAIMS, EXHIBITS, MODULES
from dpbayes.ui.pages.proofs.claims import place_of
from dpbayes.ui.session.link import settings_from
from dpbayes.ui.session.options.research import BoundClaim
from tests.conftest import IS_THOROUGH
from tests.copies import copied, python

ROOT = Path(__file__).parents[2]

PLACE = "[Zhang16] Lemma 99"

ENTRY = """
from dpbayes.theory.claims.claim import Counterexample

LEMMA_99 = Claim(
    Reference("Zhang16", "Lemma 99"),
    "A claim nobody made",
    r"9 \\cdot 9",
    Verdict.FALSE,
    "It is made up.",
    ours="the constant 99",
)


def made_up(subject: Subject, at: EvaluationPoint) -> Bound:
    '''It is 9 and 11 times what it is drawn against, or 9. [Zhang16] Lemma 99.'''
    x = at.epsilons
    return Bound(LEMMA_99, 9 * x, 11 * x, "records")


def counterexample_lemma_99() -> Counterexample:
    '''At 1.'''
    return Counterexample(LEMMA_99, "at nine times one", 10.0, 9.0, 11.0, "records")


EXHIBITS["LEMMA_99"] = Exhibit(
    LEMMA_99,
    made_up,
    lambda subject, at, bound: f"$9 = {float(bound.printed[0]):g}$",
    (Axis.EPSILON,),
    "that one record moves {} marbles",
    "marbles",
    measure=lambda subject, at, bound: exactly(bound.certified - 1, printed=bound.printed, name="exact number"),
)
"""

ON_AN_AXIS = """
LEMMA_99 = Claim(
    Reference("Zhang16", "Lemma 99"), "A claim nobody made", "0", Verdict.HOLDS, "It is made up.", page="Explore"
)
LEMMA_100 = Claim(Reference("Zhang16", "Lemma 100"), "Another claim", "0", Verdict.HOLDS, "It is made up, too.")
EXHIBITS["LEMMA_100"] = Exhibit(
    LEMMA_100,
    lambda subject, at: flat(Bound(LEMMA_100, np.asarray(9.0 * at.knobs.marbles), np.asarray(11.0), "records")),
    lambda subject, at, bound: "$9$",
    (Axis.MARBLES,),
    "that one record moves {} records",
    "records",
)
"""

AXIS = '    MARBLES = "marbles", "mb, marbles in the jar", (1.0, 50.0, 5)\n'
KNOB = '    marbles: Annotated[int, Parameter("mb", low=1, high=50, typical=3, whole=True, title="marbles")]\n'

QUESTION = """
import json
import sys

import pytest

from dpbayes.theory import index
from dpbayes.ui.session.options.research import BoundClaim
from dpbayes.ui.pages.proofs.claims import place_of
from dpbayes.ui.session.link import settings_from
from tests.pages import conftest
from tests.pages.conftest import boards, everything, frame_of, open_page

title, place, more = sys.argv[1:]
conftest.own_navigation(pytest.MonkeyPatch())
settings, problems = settings_from({"proofs.bound": title})
small = {"source": "chain:2", "records": "20"}
small["proofs.view"] = "the papers' claims"
bounds = open_page("pages/proofs.py", **small, **{"proofs.bound": title}, **json.loads(more))
papers = open_page("pages/proofs.py", **small, **{"proofs.claim": place})
frame = frame_of(boards(bounds)[0])
picture = frame["figures"]["bound"]
at_work = [frame_of(board)["headline"] for board in boards(papers)]
table = next(frame.value for frame in papers.dataframe if "verdict" in frame.value)
table.index = [str(claim.reference) for claim in index.CLAIMS]
print("ANSWER" + json.dumps({
    "file": index.__file__,
    "claims": [str(claim.reference) for claim in index.CLAIMS],
    "exhibits": list(index.EXHIBITS),
    "options": [claim.value for claim in BoundClaim],
    "chosen": settings.options("proofs").bound.name,
    "problems": list(map(str, problems)),
    "headline": frame["headline"],
    "bounds": everything(bounds),
    "titles": [picture["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis")],
    "points": next(len(t["x"]) for t in picture["data"] if t.get("name") == "as stated in the paper"),
    "listed": papers.selectbox(key="parameter.proofs.claim").options,
    "rows": table[["statement", "verdict"]].T.to_dict(),
    "links": [button.label for button in papers.button],
    "papers": everything(papers),
    "at work": at_work[0] if at_work else "",
}))
"""


def with_entry(folder: Path, entry: str) -> Path:
    """The copy, after `entry` is put at the end of one topic's module."""
    topic = folder / "dpbayes" / "theory" / "zhang16" / "counts.py"
    topic.write_text(topic.read_text(encoding="utf-8") + entry, encoding="utf-8")
    return folder


def answer_of(folder: Path, title: str, place: str, **more: str) -> dict[str, Any]:
    """What the index of a copy lists, and what its Proofs page shows of a claim."""
    printed = python(folder, "-c", QUESTION, title, place, json.dumps(more))
    answer: dict[str, Any] = json.loads(printed.partition("ANSWER")[2])
    assert Path(str(answer["file"])).is_relative_to(folder)
    return answer


def test_one_entry_in_one_file_is_a_claim_an_exhibit_and_what_the_proofs_page_shows(tmp_path: Path) -> None:
    after = answer_of(with_entry(copied(tmp_path), ENTRY), PLACE, PLACE)
    for name, value, before in (
        ("claims", PLACE, [str(claim.reference) for claim in CLAIMS]),
        ("exhibits", "LEMMA_99", list(EXHIBITS)),
        ("options", PLACE, [claim.value for claim in BoundClaim]),
        ("listed", "AAAI 2016, Lemma 99", [place_of(claim) for claim in CLAIMS]),
    ):
        assert value not in before
        assert sorted(after[name]) == sorted([*before, value])
    assert after["chosen"] == "LEMMA_99"
    assert not after["problems"]
    assert settings_from({"proofs.bound": PLACE})[1], "which is refused as it is"
    said = (
        "Lemma 99 fails and is exceeded with the constant 99, which the paper leaves open: it states that one record "
        "moves 9 marbles, but the exact number is 10."
    )
    assert after["headline"] == after["at work"] == said
    assert after["titles"] == ["ε, nats of privacy loss", "marbles"]
    assert ":red[**Fails.**] It is made up." in after["bounds"]
    assert "$9 = 9$" in after["bounds"]
    assert after["rows"][PLACE] == {"statement": "A claim nobody made", "verdict": "✗ fails"}
    said = "At nine times one: the true value is **10**, the paper states 9, and the proved bound is 11 (records)."
    assert said in after["papers"]


@pytest.mark.skipif(not IS_THOROUGH, reason="a claim on a known axis is tried in the same way")
def test_a_claim_on_a_new_axis_is_one_member_and_one_knob_more_and_one_without_an_exhibit_names_its_page(
    tmp_path: Path,
) -> None:
    setting = with_entry(copied(tmp_path), ON_AN_AXIS) / "dpbayes" / "theory" / "claims" / "setting.py"
    text = setting.read_text(encoding="utf-8")
    for before, line in (("\n    title: str\n    span:", AXIS), ("\n    @classmethod\n    def usual", KNOB)):
        head, marked, tail = text.partition(before)
        text = head + line + marked + tail
    setting.write_text(text, encoding="utf-8")
    after = answer_of(tmp_path, "[Zhang16] Lemma 100", "[Zhang16] Lemma 100", **{"bounds.marbles": "5"})
    assert "it states that one record moves 45 records" in after["headline"]
    assert "it states that one record moves 27 records" in after["at work"]
    assert after["titles"][0] == "mb, marbles in the jar"
    assert after["points"] == 5
    assert after["rows"]["[Zhang16] Lemma 100"]["statement"] == "Another claim"
    assert answer_of(tmp_path, "[Zhang16] Lemma 100", PLACE)["links"].count("Open Explore") == 1


def test_the_page_opens_on_theorem_1_and_the_papers_follow_each_other() -> None:
    assert next(iter(EXHIBITS)) == "THEOREM_1"
    papers = [exhibit.claim.reference.paper for exhibit in EXHIBITS.values()]
    assert list(dict.fromkeys(papers)) == ["Zhang16", "Dimitrakakis14", "Notes"]
    assert papers == sorted(papers, key=["Zhang16", "Dimitrakakis14", "Notes"].index)


def test_no_two_exhibits_share_a_name_or_a_title() -> None:
    """Of two of a name one would be lost, and of two of a title the page would show one."""
    names = [name for module in MODULES for name in getattr(module, "EXHIBITS", {})]
    assert sorted(names) == sorted(EXHIBITS)
    assert len({exhibit.title for exhibit in EXHIBITS.values()}) == len(EXHIBITS)


def test_every_exhibit_is_of_a_claim_that_is_listed() -> None:
    listed = {id(claim) for claim in CLAIMS}
    assert all(id(exhibit.claim) in listed for exhibit in EXHIBITS.values())


# No page knows a claim by name

PAPERS_OF_CLAIMS = {claim.reference.paper for claim in CLAIMS}
CALLED = {*EXHIBITS, *(exhibit.title for exhibit in EXHIBITS.values()), *(str(claim.reference) for claim in CLAIMS)}

ABOUT = {
    "pages/proofs/claims.py": "the board of one replaced record is about the two theorems of robustness",
}
"""The modules of the user interface that are about certain claims, and why they name them."""


def _of_theory(tree: ast.AST) -> dict[str, Any]:
    """What a module imports from the theory, by the name that it has there."""
    return {
        alias.asname or alias.name: getattr(importlib.import_module(node.module), alias.name, None)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("dpbayes.theory")
        for alias in node.names
    }


def claims_named_in(code: str) -> set[str]:
    """The claims that code names: imported, taken from a topic's module or from an enum of claims, or in a string.

    A citation, `Reference(paper, place)`, names a paper, and decides nothing.
    """
    tree = ast.parse(code)
    imported = _of_theory(tree)
    names = {name for name, value in imported.items() if isinstance(value, Claim)}
    cited = {
        id(word)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Reference"
        for word in node.args
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            of = imported.get(node.value.id)
            if isinstance(of, ModuleType) and isinstance(getattr(of, node.attr, None), Claim):
                names.add(node.attr)
            if node.value.id == "BoundClaim" and node.attr in EXHIBITS:
                names.add(node.attr)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in cited:
            names |= {node.value} & (CALLED | PAPERS_OF_CLAIMS)
    return names


def test_no_module_of_the_user_interface_names_a_claim_but_those_that_are_about_it() -> None:
    folder = ROOT / "dpbayes" / "ui"
    named = {path.relative_to(folder).as_posix(): claims_named_in(path.read_text()) for path in folder.rglob("*.py")}
    assert {name: claims for name, claims in named.items() if claims and name not in ABOUT} == {}
    assert [name for name in ABOUT if not named[name]] == [], "what is no longer so is taken off the list"


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("from dpbayes.theory.zhang16.posterior_kl.bounds import ORDER as LAST", {"LAST"}),
        ("from dpbayes.theory.zhang16 import stealth\nstealth.SMALL_INCREMENTS", {"SMALL_INCREMENTS"}),
        ("claim is BoundClaim.ORDER", {"ORDER"}),
        ("BoundClaim['ORDER']", {"ORDER"}),
        ("paper == 'Notes'", {"Notes"}),
        ("source(Reference('Notes', 'Section 2'))", set()),
        ("from dpbayes.theory.zhang16.stealth import certified_increment", set()),
    ],
)
def test_a_claim_that_is_named_is_seen(code: str, named: set[str]) -> None:
    assert claims_named_in(code) == named
