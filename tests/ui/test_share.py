"""The address of a view is one that others can open, or says that it is not."""

import pytest

from dpbayes.ui.app import Served, shareable


@pytest.mark.parametrize(
    ("opened", "served", "shown", "only_here"),
    [
        ("http://127.0.0.1:8501/release", Served("127.0.0.1", ""), "http://127.0.0.1:8501/release", True),
        ("http://localhost:8501/", Served("127.0.0.1", ""), "http://localhost:8501/", True),
        ("http://[::1]:8501/", Served("127.0.0.1", ""), "http://[::1]:8501/", True),
        ("http://localhost:8501/a", Served("0.0.0.0", "192.0.2.7"), "http://192.0.2.7:8501/a", False),
        ("http://192.0.2.7:8501/a", Served("0.0.0.0", "192.0.2.7"), "http://192.0.2.7:8501/a", False),
        ("http://localhost:8501/a", Served("0.0.0.0", ""), "http://localhost:8501/a", True),
        ("https://class.example/a", Served("127.0.0.1", ""), "https://class.example/a", False),
    ],
)
def test_the_address_shown_is_one_that_others_can_open_or_says_that_it_is_not(
    opened: str, served: Served, shown: str, only_here: bool
) -> None:
    address, why = shareable(opened, served)
    assert address == shown
    assert ("this computer only" in why) == only_here
    assert bool(why) == only_here
