"""Results as frames."""

from collections.abc import Mapping

from dpbayes.base.libraries import pd


def with_settings(frame: "pd.DataFrame", settings: Mapping[str, int | float | str]) -> "pd.DataFrame":
    """Return a frame with the settings as its last columns, except those that it already has."""
    return frame.assign(**{name: value for name, value in settings.items() if name not in frame})
