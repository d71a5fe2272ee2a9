"""What each page lets a person set besides data, network and mechanism; the link carries it as `page.name`."""

from typing import Any

from dpbayes.parameters import Choice, Parameter, parameters_of

OPTIONS: dict[str, type[Any]] = {}
"""The options of every page that has some: a frozen dataclass of fields annotated as a mechanism's are."""


def described_options() -> dict[str, Parameter | Choice]:
    """Return every page's options by the name they have in the link, as `page.name`."""
    return {
        f"{page}.{name}": note for page, options in OPTIONS.items() for name, note in parameters_of(options).items()
    }
