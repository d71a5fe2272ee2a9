"""What a saved chart is called, and what it says of itself."""

from dpbayes.ui.session.settings import Seat, Settings
from dpbayes.ui.widgets.chart.saving import LONGEST_NAME, file_name, settings_told


def test_a_picture_is_named_by_page_chart_and_settings() -> None:
    settings = Settings(records=500, parameters=(("epsilon", 2.0),))
    assert file_name("release", "density", settings) == "release-density-records=500-epsilon=2"
    assert file_name("", "chart", Settings()) == "chart"


def test_no_setting_makes_a_name_that_a_disk_refuses_or_that_leaves_the_folder() -> None:
    hostile = Settings(target="../../etc/passwd<>:|?*\n", row="x" * 500)
    name = file_name("release", "a/b", hostile)
    assert len(name) <= LONGEST_NAME
    assert not set(name) & set("/\\<>:|?*\n ")
    assert not name.startswith(".")


def test_a_picture_says_its_settings_and_for_whom_it_was_drawn() -> None:
    settings = Settings(seat=Seat.RECIPIENT, parameters=(("epsilon", 2.0),))
    assert settings_told("release", settings) == "dpbayes, page release: epsilon = 2. A picture, not a release."
    curator = settings_told("", Settings(seat=Seat.CURATOR))
    assert curator.startswith("dpbayes, page home: the default settings. A picture")
    assert curator.endswith("Drawn for the curator: it may show what is not private.")
    assert "not a release" not in settings_told("ledger", Settings())
    assert len(settings_told("network", Settings(row="x" * 5000))) < 250
