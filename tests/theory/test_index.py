"""One claim is one entry in one file: whatever a topic's module lists is in the index and on the Proofs page."""

import ast
import importlib
import json
from pathlib import Path
from typing import Any

from dpbayes.theory.claims.claim import Claim
from dpbayes.theory.index import CLAIMS, EXHIBITS, MODULES
from dpbayes.ui.pages.proofs_claims import claim_place
from dpbayes.ui.session.link import settings_from
from dpbayes.ui.session.options import BoundClaim
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

QUESTION = """
import json
import sys

import pytest

from dpbayes.theory import index
from dpbayes.ui.session.options import BoundClaim
from dpbayes.ui.pages.proofs_claims import claim_place
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
        ("listed", "AAAI 2016, Lemma 99", [claim_place(claim) for claim in CLAIMS]),
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
    assert all(text in after["bounds"] for text in (":red[**Fails.**]", "It is made up."))
    assert "$9 = 9$" in after["bounds"]
    assert after["rows"][PLACE] == {"statement": "A claim nobody made", "verdict": "✗ fails"}
    said = "At nine times one: the true value is **10**, the paper states 9, and the proved bound is 11 (records)."
    assert said in after["papers"]


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


def test_the_user_interface_names_no_claim() -> None:
    folder, naming = ROOT / "dpbayes" / "ui", set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpbayes.theory"):
                module = importlib.import_module(str(node.module))
                if any(isinstance(getattr(module, alias.name, None), Claim) for alias in node.names):
                    naming.add(path.relative_to(folder).as_posix())
    assert not naming
