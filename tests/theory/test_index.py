"""Whatever a topic's module lists is in the index, once."""

from dpbayes.theory.index import CLAIMS, EXHIBITS, MODULES


def test_no_two_exhibits_share_a_name_or_a_title() -> None:
    """Of two of a name one would be lost, and of two of a title the page would show one."""
    names = [name for module in MODULES for name in getattr(module, "EXHIBITS", {})]
    assert sorted(names) == sorted(EXHIBITS)
    assert len({exhibit.title for exhibit in EXHIBITS.values()}) == len(EXHIBITS)


def test_every_exhibit_is_of_a_claim_that_is_listed() -> None:
    listed = {id(claim) for claim in CLAIMS}
    assert all(id(exhibit.claim) in listed for exhibit in EXHIBITS.values())
