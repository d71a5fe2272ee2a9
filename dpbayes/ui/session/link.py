"""Settings as the query of a link, and back. Invalid parts of a link are ignored and reported.

Streamlit's `bind` writes each widget of the page to the address separately, and removes invalid values without a
message. A link here contains the settings of all pages.
"""

import dataclasses
import enum
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar
from urllib.parse import unquote

from dpbayes.base.parameters import read
from dpbayes.base.text import shortest
from dpbayes.base.validation import InputError, brief, whole_number
from dpbayes.model.synthetic import MAX_RECORDS
from dpbayes.posteriors.prior_rules import prior_rule
from dpbayes.ui.session.connections import connection_names
from dpbayes.ui.session.graphs import MAX_CODE, drawable, graph_of
from dpbayes.ui.session.settings import (
    CONNECTED,
    EXPLORED_NAMES,
    PARAMETERS,
    Cpts,
    Present,
    Seat,
    Settings,
    title_at_sentence_start,
)

Member = TypeVar("Member", bound=enum.Enum)

MOST_PLACES = 99
"""The largest step of a story in a link; no story has so many."""


def _one_of(name: str, names: Iterable[str]) -> Callable[[str], str]:
    options = tuple(names)

    def read(text: str) -> str:
        if text not in options:
            raise InputError(f"There is no {name} called {brief(text)}.")
        return text

    return read


def _member(name: str, kind: type[Member]) -> Callable[[str], Member]:
    read = _one_of(name, (member.value for member in kind))
    return lambda text: kind(read(text))


def _graph_spec(text: str) -> str:
    if text:
        drawable(graph_of(text))
    return text


def _evidence(text: str) -> tuple[tuple[str, str], ...]:
    parts = [part.partition("~") for part in text.split("~~") if part]
    return tuple((unquote(name), unquote(state)) for name, _, state in parts if name and state)


def _without_tilde(text: str) -> str:
    return text.replace("%", "%25").replace("~", "%7E")


def _short(text: str) -> str:
    if len(text) > MAX_CODE:
        raise InputError(f"The name {brief(text)} is too long.")
    return text


def _data(text: str) -> str:
    from dpbayes.sources.shipped_tables import SHIPPED  # late: reading the registry is not needed to draw a page

    connected = (CONNECTED, *(f"{CONNECTED}:{name}" for name in connection_names()))
    return _one_of("table", ("synthetic", "upload", *connected, *SHIPPED))(text)


_whole = functools.partial(functools.partial, whole_number)

READERS: dict[str, Callable[[str], Any]] = {
    "seat": _member("seat", Seat),
    "data": _data,
    "source": _graph_spec,
    "cpts": _member("kind of probabilities", Cpts),
    "records": _whole("The number of records", low=0, high=MAX_RECORDS),
    "data_seed": _whole("The seed of the data", low=0, high=2**32 - 1),
    "graph": _graph_spec,
    "mechanism": _one_of("mechanism", EXPLORED_NAMES),
    "prior": prior_rule,
    "seed": _whole("The seed", low=0, high=2**32 - 1),
    "state": _short,
    "target": _short,
    "evidence": lambda text: _evidence(_short(text)),
    "story": _short,  # the banner reports an unknown one
    "step": _whole("The step of the story", low=1, high=MOST_PLACES),
    "present": _member("presentation mode", Present),
}
"""The reader of each field, for a text in a link and for a typed text."""


def read_parameter(name: str, text: str) -> Any:
    """Return the value of a parameter or an option from text. Errors: InputError."""
    return read(PARAMETERS[name], title_at_sentence_start(name), text)


def settings_from(query: Mapping[str, str]) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings of a link, and one sentence for each ignored part."""
    settings, problems = Settings(), []
    for key, text in query.items():
        try:
            if key in PARAMETERS:
                settings = settings.with_parameter(key, read_parameter(key, text))
            elif key in READERS:
                settings = dataclasses.replace(settings, **{key: READERS[key](text)})
        except InputError as error:
            problems.append(f"The link cannot be followed in one part, {key}; the default is shown instead. {error}")
    return settings, tuple(problems)


def query_of(settings: Settings) -> dict[str, str]:
    """Return the query of a link: all choices that differ from the defaults and are short enough for it."""
    short = {name: text for name, text in _texts(settings).items() if len(text) <= MAX_CODE}
    return short | {name: _text(value) for name, value in settings.parameters}


def left_out(settings: Settings) -> tuple[str, ...]:
    """Return the names, for a sentence, of the settings that are too long for the link."""
    return tuple(_CALLED[name] for name in too_long(settings))


def too_long(settings: Settings) -> tuple[str, ...]:
    """Return the fields that are too long for an address."""
    return tuple(name for name, text in _texts(settings).items() if len(text) > MAX_CODE)


_CALLED = {
    "source": "the network that records are drawn from",
    "graph": "the drawn network",
    "state": "the state",
    "target": "the target of the question",
    "evidence": "the evidence",
}
"""The names, for a sentence, of the settings whose text has no bound."""


def _texts(settings: Settings) -> dict[str, str]:
    """Return the texts of all fields that differ from the defaults."""
    texts: dict[str, str] = {}
    for field in dataclasses.fields(Settings):
        value = getattr(settings, field.name)
        if field.name == "parameters" or value == field.default:
            continue
        if field.name == "evidence":
            texts["evidence"] = "~~".join("~".join(map(_without_tilde, pair)) for pair in value)
        else:
            texts[field.name] = _text(value)
    return texts


def _text(value: object) -> str:
    if isinstance(value, enum.Enum):
        return str(value.value)
    return shortest(value) if isinstance(value, float) else str(value)
