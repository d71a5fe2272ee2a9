"""The help of every command has one style: descriptions are sentences, and entries are as argparse writes its own."""

import argparse
from collections.abc import Iterator

import pytest

from dpbayes import __main__ as dashboard
from dpbayes.__main__ import Parser
from dpbayes.releases.commands import COMMANDS as RELEASES
from dpbayes.releases.commands import Command


def parsers_of(name: str, command: Command) -> Iterator[argparse.ArgumentParser]:
    """Yield the parser of a command, and those of its actions."""
    parser = Parser(prog=name, description=command.about)
    command.add_arguments(parser)
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def entries_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the texts of a parser's options and actions."""
    for action in parser._actions:
        listed = action._choices_actions if isinstance(action, argparse._SubParsersAction) else [action]
        yield from (str(entry.help) for entry in listed)


@pytest.mark.parametrize(("name", "command"), RELEASES.items())
def test_a_description_is_a_sentence_and_an_entry_is_not(name: str, command: Command) -> None:
    for parser in parsers_of(name, command):
        assert parser.description
        assert parser.description[0].isupper()
        assert parser.description.endswith(".")
        for text in entries_of(parser):
            assert not text[0].isupper(), text
            assert not text.endswith((".", ".)")), text
            assert ". (" not in text, text


def test_the_dashboard_is_described_in_the_same_style() -> None:
    serving = dashboard._parser()
    assert serving.description
    assert serving.description[0].isupper()
    assert serving.description.endswith(".")
    assert not any(text[0].isupper() for text in entries_of(serving))
