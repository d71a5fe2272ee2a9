"""One claim is one entry in one file: whatever a topic's module lists is in the index and on the Bounds page."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from dpbayes.theory.index import CLAIMS, EXHIBITS, MODULES
from dpbayes.ui.session.options.bounds import BoundClaim
from dpbayes.ui.session.settings import settings_from

ROOT = Path(__file__).parents[2]

ENTRY = """
LEMMA_99 = Claim(Reference("Zhang16", "Lemma 99"), "A claim nobody made", "0", Verdict.HOLDS, "It is made up.")
CLAIMS += (LEMMA_99,)
EXHIBITS["LEMMA_99"] = Exhibit(
    "Lemma 99: a claim nobody made",
    LEMMA_99,
    Says.CERTAIN,
    lambda subject, at: flat(lemma_1(subject.network)),
    largest_move,
    lemma_1_formula,
    (Axis.RECORDS,),
    "lets one record move {}",
    "records",
    (),
)
"""

ASKED = """
import json
from dpbayes.theory import index
from dpbayes.ui.session.options.bounds import BoundClaim
from dpbayes.ui.session.settings import settings_from

settings, problems = settings_from({"bounds.claim": "Lemma 99: a claim nobody made"})
print(json.dumps({
    "file": index.__file__,
    "claims": [str(claim.reference) for claim in index.CLAIMS],
    "exhibits": list(index.EXHIBITS),
    "options": [claim.value for claim in BoundClaim],
    "chosen": settings.options("bounds").claim.name,
    "problems": list(map(str, problems)),
}))
"""


def indexed(folder: Path, entry: str) -> dict[str, Any]:
    """What a copy of the package lists after `entry` is put at the end of one topic's module.

    What is compiled is copied too, and stays valid, as times are kept; but not what another test is writing now.
    """
    copy = folder / "dpbayes"
    shutil.copytree(ROOT / "dpbayes", copy, ignore=shutil.ignore_patterns("*.pyc.*"))
    (folder / "data").symlink_to(ROOT / "data")
    topic = copy / "theory" / "zhang16" / "counts.py"
    topic.write_text(topic.read_text(encoding="utf-8") + entry, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", ASKED],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    assert Path(str(answer["file"])).is_relative_to(folder)
    return answer


def test_one_entry_in_one_file_is_a_claim_an_exhibit_and_an_option_of_the_page(tmp_path: Path) -> None:
    after = indexed(tmp_path, ENTRY)
    title = "Lemma 99: a claim nobody made"
    for name, value, before in (
        ("claims", "[Zhang16] Lemma 99", [str(claim.reference) for claim in CLAIMS]),
        ("exhibits", "LEMMA_99", list(EXHIBITS)),
        ("options", title, [claim.value for claim in BoundClaim]),
    ):
        assert value not in before
        assert sorted(after[name]) == sorted([*before, value])
    assert after["chosen"] == "LEMMA_99"
    assert not after["problems"]
    assert settings_from({"bounds.claim": title})[1], "which is refused as it is"


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
    listed = {id(claim) for module in MODULES for claim in getattr(module, "CLAIMS", ())}
    assert all(id(exhibit.claim) in listed for exhibit in EXHIBITS.values())
