"""Readable names in a story's texts: {dysp} is what that node is called, its published name beside it at first."""

import re
from collections.abc import Mapping
from dataclasses import replace

from dpbayes.sources.names import ReadableName
from dpbayes.ui.pages.stories.story import Step, Story
from dpbayes.ui.session.chosen import Chosen

_NAMED = re.compile(r"\{([^{}]+)\}")


def with_readable_names(story: Story) -> Story:
    """Return a story in the words of the field: a node in braces is called by its readable name.

    Where it first stands, its published name follows in brackets, unless that is the same word. What has no readable
    name in the network or table that the step shows stays as it is.
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
    """Return a text with readable names; `named` gets the nodes whose published names the reader has seen by now."""

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
