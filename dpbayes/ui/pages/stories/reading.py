"""Reads a story from TOML. An error is one sentence, and a story can set only what a link can set."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dpbayes.base.validation import InputError, brief
from dpbayes.sources.data_files import ReadableName
from dpbayes.ui.pages.stories.story import PARTS, Guess, Step, Story
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.link import READERS, settings_from
from dpbayes.ui.session.settings import CONNECTED, PARAMETERS, Seat, Settings
from dpbayes.ui.widgets.numbers import NUMBERS

MOST_BYTES = 20_000
MOST_STEPS = 12
MOST_LETTERS = 300
"""Letters of one sentence: the banner is to leave the picture its place."""

_PART = rb"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(rb"(?<![\w-])" + _PART + rb"(?:[ \t]*+\.[ \t]*+" + _PART + rb"){8}")
"""A key of TOML in more parts than any of a story: reading one takes time with the square of its parts."""

PERSONS_OWN = ("seat", "story", "step", "present")
"""Settings of the person and the place in a story, which the settings of a story cannot contain."""

OF_A_STORY = ("title", "question", "field", "seat", "settings", "steps", "learnt", "next")
OF_A_STEP = ("say", "do", "watch", "page", "seat", "settings", "at", "guess")


def read_story(content: bytes, followers: Iterable[str]) -> Story:
    """Return the story that a file holds; it may lead on to one of `followers`. Errors: InputError, one sentence."""
    whole = _table(content)
    _checked_table("The story", whole, OF_A_STORY)
    title, question, field, learnt = (
        _sentence("The story", whole, name) for name in ("title", "question", "field", "learnt")
    )
    follower = whole.get("next", "")
    if follower not in ("", *followers):
        raise InputError(f"There is no story called {brief(follower)} that could come next.")
    listed = whole.get("steps", [])
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_STEPS:
        count = f"this story has {len(listed)}" if isinstance(listed, list) else "its steps are not a list of [[steps]]"
        raise InputError(f"A story has 1 to {MOST_STEPS} steps; {count}.")
    everywhere = _query("The story", whole.get("settings", {}))
    _settings("The story", everywhere)
    seat = _seat("The story", whole)
    steps = tuple(_step(f"Step {number}", given, everywhere, seat) for number, given in enumerate(listed, start=1))
    story = with_readable_names(Story(title, question, field, steps, learnt, follower))
    _short(story)
    return story


def _short(story: Story) -> None:
    """Refuse texts that readable names have made too long."""
    questions = [step.guess.ask for step in story.steps if step.guess is not None]
    texts = [text for step in story.steps for text in (step.say, step.do, step.watch)]
    for text in (story.question, *texts, *questions, story.learnt):
        if len(text) > MOST_LETTERS:
            raise InputError(
                f"With readable names, {brief(text)} has {len(text):,} letters; the limit is {MOST_LETTERS}."
            )


def _table(content: bytes) -> dict[str, Any]:
    if len(content) > MOST_BYTES:
        raise InputError(f"A story has up to {MOST_BYTES:,} bytes; this file has {len(content):,}.")
    if _DEEP_KEY.search(content):
        raise InputError("The story has a key of more than eight parts; the limit is eight.")
    try:
        return tomllib.loads(content.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError:
        raise InputError("The story is not UTF-8 text; save it as UTF-8 and load it again.") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:  # also for a number of too many digits
        raise InputError(f"The story is not TOML: {str(error) or 'it is nested too deeply'}.") from None


def _checked_table(whose: str, given: object, names: Iterable[str]) -> Mapping[str, Any]:
    """Return a table that has none but these names."""
    if not isinstance(given, dict):
        raise InputError(f"{whose} must be a table of TOML, not {brief(given)}.")
    names = tuple(names)
    for name in given:
        if name not in names:
            raise InputError(f"{whose} has no part called {brief(name)}; choose one of {', '.join(names)}.")
    return given


def _sentence(whose: str, table: Mapping[str, Any], name: str) -> str:
    text = table.get(name)
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{whose} needs {name} = a text that is not empty.")
    text = " ".join(text.split())
    if len(text) > MOST_LETTERS:
        raise InputError(f"{whose} has a text of {len(text):,} letters in {name}; the limit is {MOST_LETTERS}.")
    return text


def _seat(whose: str, table: Mapping[str, Any]) -> Seat | None:
    """Return the seat of a story or a step; None if the person's own seat stays."""
    if "seat" not in table:
        return None
    seats = {seat.value: seat for seat in Seat}
    name = table["seat"]
    if not isinstance(name, str) or name not in seats:
        raise InputError(f"{whose}: there is no seat called {brief(name)}; choose one of {', '.join(seats)}.")
    return seats[name]


def _step(whose: str, given: object, everywhere: Mapping[str, str], seat: Seat | None) -> Step:
    table = _checked_table(whose, given, OF_A_STEP)
    say, do, watch = (_sentence(whose, table, name) for name in ("say", "do", "watch"))
    page, at = table.get("page"), table.get("at", "")
    if not isinstance(page, str) or page not in PARTS:
        raise InputError(f"{whose}: there is no page called {brief(page)}; choose one of {', '.join(PARTS)}.")
    if not isinstance(at, str) or at not in ("", *PARTS[page]):
        parts = f"choose one of {', '.join(PARTS[page])}" if PARTS[page] else "leave `at` out"
        raise InputError(f"{whose}: the page {page} has no part called {brief(at)}; {parts}.")
    settings = _settings(whose, {**everywhere, **_query(whose, table.get("settings", {}))})
    _asks_of_the_network(whose, settings)
    seat = _seat(whose, table) or seat
    if seat is Seat.CURATOR and settings.data.partition(":")[0] in ("upload", CONNECTED):
        raise InputError(f"{whose} cannot set the seat curator for an uploaded or connected table. Leave `seat` out.")
    return Step(say, do, watch, page, settings, at, _guess(whose, table.get("guess"), page), seat)


def _guess(whose: str, given: object, page: str) -> Guess | None:
    if given is None:
        return None
    table = _checked_table(f"{whose}, guess,", given, ("ask", "number"))
    name, here = table.get("number"), [name for name, number in NUMBERS.items() if number.page == page]
    if not isinstance(name, str) or name not in here:
        offered = f"choose one of {', '.join(here)}" if here else "leave `guess` out"
        raise InputError(f"{whose}: the page {page} has no number called {brief(name)}; {offered}.")
    return Guess(_sentence(f"{whose}, guess,", table, "ask"), name)


def _query(whose: str, given: object) -> dict[str, str]:
    """Return settings as the query of a link."""
    if not isinstance(given, dict):
        raise InputError(f"{whose}: settings must be a table of TOML, not {brief(given)}.")
    for name, value in given.items():
        if name in PERSONS_OWN:
            raise InputError(f"{whose} cannot set {name}: the visitor chooses it.")
        if name not in PARAMETERS and name not in READERS:
            raise InputError(
                f"{whose}: there is no setting called {brief(name)}; copy the name of a setting from a link."
            )
        if not isinstance(value, str | int | float):
            raise InputError(f"{whose}: the setting {name} must be a text or a number, as in a link.")
    return {name: str(value) for name, value in given.items()}


def _settings(whose: str, query: Mapping[str, str]) -> Settings:
    for name, text in query.items():
        _, problems = settings_from({name: text})
        if problems:
            raise InputError(f"{whose}: the setting {name} is refused. {problems[0].split('. ', 1)[1]}")
    return settings_from(dict(query))[0]


def _asks_of_the_network(whose: str, settings: Settings) -> None:
    """Check that the step's network has the nodes, states and rows; this is unknown for a person's own table."""
    if not (settings.target or settings.evidence or settings.row):
        return
    try:
        network = Chosen(settings).network
    except InputError:
        return
    states = dict(zip(network.names, network.states, strict=True))
    for name in filter(None, (settings.target, *(name for name, _ in settings.evidence))):
        if name not in states:
            raise InputError(f"{whose}: the network of this step has no node called {brief(name)}.")
    for name, state in settings.evidence:
        if state not in states[name]:
            raise InputError(f"{whose}: the node {brief(name)} has no state called {brief(state)}.")
    if settings.row and network.row_called(settings.row) is None:
        raise InputError(f"{whose}: the network of this step has no CPT row called {brief(settings.row)}.")


# Readable names


_NAMED = re.compile(r"\{([^{}]+)\}")


def with_readable_names(story: Story) -> Story:
    """Return a story in which nodes in braces are replaced by their readable names.

    At the first occurrence, the published name follows in brackets, unless it is the same word. Braces around other
    texts stay.
    """
    named: set[str] = set()
    steps = tuple(_named_step(step, named) for step in story.steps)
    question = _named(story.question, _readable(story.steps[0]), set())
    return replace(story, question=question, steps=steps, learnt=_named(story.learnt, _readable(steps[-1]), named))


def _named_step(step: Step, named: set[str]) -> Step:
    readable = _readable(step)
    say, do, watch = (_named(text, readable, named) for text in (step.say, step.do, step.watch))
    guess = step.guess and replace(step.guess, ask=_named(step.guess.ask, readable, named))
    return replace(step, say=say, do=do, watch=watch, guess=guess)


def _readable(step: Step) -> Mapping[str, ReadableName]:
    return Chosen(step.settings).readable


def _named(text: str, readable: Mapping[str, ReadableName], named: set[str]) -> str:
    """Return a text with readable names; `named` collects the nodes whose published names were shown."""

    def called(braces: re.Match[str]) -> str:
        node = braces[1]
        if node not in readable:
            return braces[0]
        name = readable[node].name
        if node in named or name.lower() == node.lower():
            return name
        named.add(node)
        return f"{name} ({node})"

    return _NAMED.sub(called, text)
