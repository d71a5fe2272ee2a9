"""Whatever a topic's module lists is in the index, once, and no page names a claim."""

import ast
import importlib
from pathlib import Path

from dpbayes.theory.claims.claim import Claim
from dpbayes.theory.index import CLAIMS, EXHIBITS, MODULES

ROOT = Path(__file__).parents[2]


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
