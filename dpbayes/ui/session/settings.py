"""Everything a person has chosen, as one frozen value that lives in the session and in the link."""

import dataclasses
import enum
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import streamlit as st

from dpbayes.base.parameters import Choice, Parameter, parameters_of
from dpbayes.base.validation import InputError, brief, finite_number, whole_number
from dpbayes.mechanisms import MECHANISMS, PRIVATE
from dpbayes.posteriors.dirichlet import LEAST_PRIOR, MOST_PRIOR
from dpbayes.sources.named_networks import NAMED
from dpbayes.sources.synthetic import MAX_RECORDS
from dpbayes.ui.session.connections import connection_names
from dpbayes.ui.session.graphs import MAX_CODE, drawable, graph_of
from dpbayes.ui.session.options.index import OPTIONS, described_options

MECHANISM_NAMES = tuple(mechanism.__name__ for mechanism in PRIVATE)

CONNECTED = "connected"
"""What `data` is where a table stays where it is; with a colon after it, the public name of the connection."""

PARAMETERS: dict[str, Parameter | Choice] = {
    name: parameter for mechanism in MECHANISMS for name, parameter in parameters_of(mechanism).items()
} | described_options()
"""Every parameter of every mechanism, by name, and every option of a page; they go in the link under these names."""


MOST_PLACES = 99
"""Steps of a story that a link can count to: more than any has."""

MOST_KEY = 40
"""Letters of what a story is called in a link."""


class Seat(enum.Enum):
    """Who is looking."""

    CURATOR = "curator"
    RECIPIENT = "recipient"


class Cpts(enum.Enum):
    """Where the probabilities of a synthetic table come from."""

    PUBLISHED = "published"
    RANDOM = "random"
    GIVEN = "given"


class Present(enum.Enum):
    """Whether a story is shown to a room: its sentence, the picture and its slider alone, in large type."""

    OFF = "0"
    ON = "1"


@dataclass(frozen=True)
class Settings:
    """The whole state of the app but for uploaded content.

    `data` is "synthetic", "upload", the key of a shipped table, or CONNECTED with the public name of a connection,
    never a path or an address. `source` is the graph that synthetic records are drawn from, `graph` the one that is
    fitted; "" stands for the data's own, which of synthetic records is `source`. `matters` are nodes whose tables count
    more where noise is shared out among tables. `row` and `target` are names; "" and names that there are none of mean
    that the person has picked none. `story` is the key of the story that is open, "" for none, and `step` counts its
    steps from 1.
    """

    seat: Seat = Seat.CURATOR
    data: str = "synthetic"
    source: str = "asia"
    cpts: Cpts = Cpts.PUBLISHED
    records: int = 1000
    data_seed: int = 1
    graph: str = ""
    mechanism: str = MECHANISM_NAMES[0]
    prior: float = 1.0
    seed: int = 1
    row: str = ""
    state: str = ""
    zoom: bool = False
    target: str = ""
    evidence: tuple[tuple[str, str], ...] = ()
    matters: tuple[str, ...] = ()
    story: str = ""
    step: int = 1
    present: Present = Present.OFF
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def fitted(self) -> str:
        """The graph that is fitted to synthetic records, or to planned ones."""
        return self.graph or self.source

    @property
    def published(self) -> str:
        """The key of the published network that records are drawn from and that is fitted; "" where there is none."""
        is_one = self.data == "synthetic" and not self.graph and self.source in NAMED
        return self.source if is_one else ""

    def parameter(self, name: str, default: object = None) -> Any:
        """Return the value of a parameter or option: what was chosen, else `default`, else the typical one."""
        chosen = dict(self.parameters)
        if name in chosen or default is not None:
            return chosen.get(name, default)
        known = PARAMETERS[name]
        return known.typical if isinstance(known, Parameter) else next(iter(known.options))

    def options(self, page: str) -> Any:
        """Return all options of a page as the instance of its class that `OPTIONS` names."""
        kind = OPTIONS[page]
        return kind(**{name: self.parameter(f"{page}.{name}") for name in parameters_of(kind)})

    def with_parameter(self, name: str, value: object) -> "Settings":
        """Return the settings with one parameter or option set. Errors: InputError out of range."""
        checked = PARAMETERS[name].checked(opening(name), value)
        chosen = {**dict(self.parameters), name: checked}
        return dataclasses.replace(self, parameters=tuple(sorted(chosen.items(), key=lambda item: item[0])))


def called(name: str) -> str:
    """Return what a person calls a parameter or an option."""
    return PARAMETERS[name].title or name.rpartition(".")[2]


def opening(name: str) -> str:
    """Return `called` as a sentence begins with it: with a capital letter, but for a symbol such as epsilon or t."""
    word, known = called(name), PARAMETERS[name]
    symbol = known.symbol.removeprefix("\\") if isinstance(known, Parameter) else ""
    return word if word == symbol else word[:1].upper() + word[1:]


def _one_of(name: str, known: Iterable[str]) -> Callable[[str], str]:
    options = tuple(known)

    def read(text: str) -> str:
        if text not in options:
            raise InputError(f"There is no {name} called {brief(text)}.")
        return text

    return read


def _graph_spec(text: str) -> str:
    if text:
        drawable(graph_of(text))
    return text


def _evidence(text: str) -> tuple[tuple[str, str], ...]:
    parts = [part.partition("~") for part in text.split("~~") if part]
    return tuple((unquote(name), unquote(state)) for name, _, state in parts if name and state)


def _names(text: str) -> tuple[str, ...]:
    return tuple(unquote(name) for name in text.split("~~") if name)


def _without_tilde(text: str) -> str:
    return text.replace("%", "%25").replace("~", "%7E")


def _short(text: str) -> str:
    if len(text) > MAX_CODE:
        raise InputError(f"The name {brief(text)} is too long.")
    return text


def _story(text: str) -> str:
    """Return the key of a story; whether there is one of that name is said where it is shown."""
    if len(text) > MOST_KEY or not text.isidentifier():
        raise InputError(f"There is no story called {brief(text)}.")
    return text


def _seat(text: str) -> Seat:
    return Seat(_one_of("seat", (seat.value for seat in Seat))(text))


def _cpts(text: str) -> Cpts:
    return Cpts(_one_of("kind of probabilities", (kind.value for kind in Cpts))(text))


def _data(text: str) -> str:
    from dpbayes.sources.shipped_tables import SHIPPED  # late: reading the registry is not needed to draw a page

    connected = (CONNECTED, *(f"{CONNECTED}:{name}" for name in connection_names()))
    return _one_of("table", ("synthetic", "upload", *connected, *SHIPPED))(text)


_whole = functools.partial(functools.partial, whole_number)

READERS: dict[str, Callable[[str], Any]] = {
    "seat": _seat,
    "data": _data,
    "source": _graph_spec,
    "cpts": _cpts,
    "records": _whole("The number of records", low=0, high=MAX_RECORDS),
    "data_seed": _whole("The seed of the data", low=0, high=2**32 - 1),
    "graph": _graph_spec,
    "mechanism": _one_of("mechanism", MECHANISM_NAMES),
    "prior": functools.partial(finite_number, "The prior", low=LEAST_PRIOR, high=MOST_PRIOR),
    "seed": _whole("The seed", low=0, high=2**32 - 1),
    "row": _short,
    "state": _short,
    "zoom": lambda text: _one_of("zoom", ("True", "False"))(text) == "True",
    "target": _short,
    "evidence": lambda text: _evidence(_short(text)),
    "matters": lambda text: _names(_short(text)),
    "story": _story,
    "step": _whole("The step of the story", low=1, high=MOST_PLACES),
    "present": lambda text: Present(_one_of("way to present", (each.value for each in Present))(text)),
}
"""How each field is read from text, whether it comes from a link or was typed."""


def read_parameter(name: str, text: str) -> Any:
    """Return a parameter or an option from text. Errors: InputError with a sentence."""
    parameter = PARAMETERS[name]
    if isinstance(parameter, Choice):
        options = [str(option.value) for option in parameter.options]
        if text not in options:
            known = ", ".join(options)
            offered = f"; there are {known}" if len(known) < 200 else ""
            raise InputError(f"{opening(name)} cannot be {brief(text)}{offered}.")
        return parameter.options(text)
    return parameter.checked(opening(name), text)


def settings_from(query: Mapping[str, str]) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings a link asks for, and one sentence for each part that was ignored."""
    settings, problems = Settings(), []
    for key, text in query.items():
        try:
            if key in PARAMETERS:
                settings = settings.with_parameter(key, read_parameter(key, text))
            elif key in READERS:
                settings = dataclasses.replace(settings, **{key: READERS[key](text)})
        except InputError as error:
            problems.append(f"This part of the link was ignored: {key}. {error}")
    return settings, tuple(problems)


def query_of(settings: Settings) -> dict[str, str]:
    """Return what the link must carry: every choice that is not the default and fits. `settings_from` reads it."""
    short = {name: text for name, text in _texts(settings).items() if len(text) <= MAX_CODE}
    return short | {name: _text(value) for name, value in settings.parameters}


def left_out(settings: Settings) -> tuple[str, ...]:
    """Return in words what the link does not carry, because it is too long for an address."""
    return tuple(_CALLED[name] for name, text in _texts(settings).items() if len(text) > MAX_CODE)


_CALLED = {
    "source": "the network that records are drawn from",
    "graph": "the drawn network",
    "row": "the CPT row",
    "state": "the state",
    "target": "the target of the question",
    "evidence": "the evidence",
    "matters": "the tables that matter more",
}
"""What a person calls the settings whose text has no bound."""


def _texts(settings: Settings) -> dict[str, str]:
    """Return the text of every field that is not the default."""
    texts: dict[str, str] = {}
    for field in dataclasses.fields(Settings):
        value = getattr(settings, field.name)
        if field.name == "parameters" or value == field.default:
            continue
        if field.name == "evidence":
            texts["evidence"] = "~~".join("~".join(map(_without_tilde, pair)) for pair in value)
        elif field.name == "matters":
            texts["matters"] = "~~".join(map(_without_tilde, value))
        else:
            texts[field.name] = _text(value)
    return texts


def _text(value: object) -> str:
    if isinstance(value, enum.Enum):
        return str(value.value)
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


# The session


def current() -> Settings:
    """Return the session's settings; the first call reads them from the link."""
    if "settings" not in st.session_state:
        settings, problems = settings_from(st.query_params.to_dict())
        st.session_state["settings"] = settings
        st.session_state["link.problems"] = settings, problems
    settings = st.session_state["settings"]
    assert isinstance(settings, Settings)
    return settings


def link_problems() -> tuple[str, ...]:
    """Return what of the link was ignored, in sentences, until a setting changes: pages may run again by themselves."""
    settings, problems = st.session_state.get("link.problems", (None, ()))
    return problems if settings is st.session_state.get("settings") else ()


def change(**fields: object) -> None:
    """Replace some of the session's settings."""
    st.session_state["settings"] = dataclasses.replace(current(), **fields)  # type: ignore[arg-type]


def set_parameter(name: str, value: object) -> None:
    """Set one parameter or option. Errors: InputError out of range."""
    st.session_state["settings"] = current().with_parameter(name, value)


def follow(query: Mapping[str, str]) -> None:
    """Make the settings those of an address that Back or Forward has led to, but for what no address carries."""
    now, (asked, problems) = current(), settings_from(query)
    long = {
        name: getattr(now, name) for name, text in _texts(now).items() if len(text) > MAX_CODE and name not in query
    }
    asked = dataclasses.replace(asked, **long)
    if asked != now:
        st.session_state["settings"] = asked
        st.session_state["link.problems"] = asked, problems
