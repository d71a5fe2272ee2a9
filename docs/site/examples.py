"""Read the section "Example" of a docstring as the reference pages need it.

Griffe, which reads the docstrings, calls a section with code and its output "Examples". Another title is a note to it,
and the prompts `>>>` in a note become quotations.
"""

from typing import Any

import griffe


class ExampleSections(griffe.Extension):
    """Give the section "Example" of every docstring the title that Griffe expects."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change the title in the docstring of one object.

        Args:
            obj: A module, a class, a function or an attribute.
            kwargs: What else Griffe passes.
        """
        if obj.docstring:
            obj.docstring.value = obj.docstring.value.replace("\nExample:\n", "\nExamples:\n")
