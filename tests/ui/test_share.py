"""The address of a view is one that others can open, or says that it is not."""

import pytest

from dpbayes.ui.app import shareable


@pytest.mark.parametrize(
    ("opened", "public_name", "shown", "only_here"),
    [
        ("http://127.0.0.1:8501/release", "localhost", "http://127.0.0.1:8501/release", True),
        ("http://localhost:8501/", "", "http://localhost:8501/", True),
        ("http://[::1]:8501/", "", "http://[::1]:8501/", True),
        ("http://localhost:8501/a", "192.0.2.7", "http://192.0.2.7:8501/a", False),
        ("http://192.0.2.7:8501/a", "192.0.2.7", "http://192.0.2.7:8501/a", False),
        ("https://class.example/a", "", "https://class.example/a", False),
    ],
)
def test_the_address_shown_is_one_that_others_can_open_or_says_that_it_is_not(
    opened: str, public_name: str, shown: str, only_here: bool
) -> None:
    address, why = shareable(opened, public_name)
    assert address == shown
    assert ("this computer only" in why) == only_here
    assert bool(why) == only_here
