"""Optional packages: an import of a missing one states the extra of dpbayes that installs it."""

from collections.abc import Iterator
from contextlib import contextmanager

from dpbayes.base.validation import InputError


@contextmanager
def extra(name: str, feature: str) -> Iterator[None]:
    """Import packages of an extra within the block.

    Args:
        name: The extra, as pyproject.toml names it.
        feature: The feature that needs the packages, as the beginning of a sentence.

    Raises:
        InputError: A package is not installed; the sentence names it and the command that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "dpbayes":  # an error of this program, which no installation would correct
            raise
        raise InputError(
            f'{feature} needs {package}, which is not installed here: pip install "dpbayes[{name}]".'
        ) from None
