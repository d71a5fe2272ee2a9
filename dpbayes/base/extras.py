"""Packages that an installation may lack: which extra of dpbayes installs one is said where it is imported."""

from collections.abc import Iterator
from contextlib import contextmanager

from dpbayes.base.validation import InputError


@contextmanager
def extra(name: str, feature: str) -> Iterator[None]:
    """Import within the block what an extra installs.

    Args:
        name: The extra, as pyproject.toml names it.
        feature: What needs the packages, as the beginning of a sentence.

    Raises:
        InputError: A package is not installed; the sentence names it and the command that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "dpbayes":  # a fault of this program, which installing would not mend
            raise
        raise InputError(
            f'{feature} needs {package}, which is not installed here: pip install "dpbayes[{name}]".'
        ) from None
