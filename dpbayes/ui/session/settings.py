"""All choices of a person, as one frozen value."""

import dataclasses
import enum
from dataclasses import dataclass
from typing import Any

from dpbayes.base.parameters import Choice, Parameter, parameters_of
from dpbayes.mechanisms import MECHANISMS, OF_RECORDS, PRIVATE
from dpbayes.posteriors.prior_rules import PriorRule
from dpbayes.sources.named_networks import NAMED
from dpbayes.ui.session.options import OPTIONS, described_options, link_name

MECHANISM_NAMES = tuple(mechanism.__name__ for mechanism in PRIVATE)
"""The mechanisms that release the counts of a given network; all pages offer them."""

EXPLORED_NAMES = (*MECHANISM_NAMES, *(mechanism.__name__ for mechanism in OF_RECORDS))
"""The mechanisms that Explore offers and a link may name."""

CONNECTED = "connected"
"""The value of `data` for a connected table, followed by a colon and the public name of the connection."""

PARAMETERS: dict[str, Parameter | Choice] = {
    name: parameter for mechanism in (*MECHANISMS, *OF_RECORDS) for name, parameter in parameters_of(mechanism).items()
} | described_options()
"""All parameters of all mechanisms, and all options of the pages, by their names in the link."""


class Seat(enum.Enum):
    """The view of the curator, or that of a recipient."""

    CURATOR = "curator"
    RECIPIENT = "recipient"


class Cpts(enum.Enum):
    """The source of the probabilities of a synthetic table."""

    PUBLISHED = "published"
    RANDOM = "random"
    GIVEN = "given"


class Present(enum.Enum):
    """Whether a story is presented: only its sentence, the picture and its slider, in large type."""

    OFF = "0"
    ON = "1"


@dataclass(frozen=True)
class Settings:
    """The whole state of the app except uploaded content.

    `data` is "synthetic", "upload", the key of a shipped table, or CONNECTED with the public name of a connection, and
    never a path or an address. `source` is the graph from which synthetic records are sampled, and `graph` is the
    fitted graph; "" is the graph of the data, which is `source` for synthetic records. `target` and
    `state` are names; for "" and unknown names, the page uses a default. `story` is the key of the open story, "" for
    none. `step` begins at 1.
    """

    seat: Seat = Seat.CURATOR
    data: str = "synthetic"
    source: str = "asia"
    cpts: Cpts = Cpts.PUBLISHED
    records: int = 1000
    data_seed: int = 1
    graph: str = ""
    mechanism: str = MECHANISM_NAMES[0]
    prior: PriorRule = PriorRule()
    seed: int = 1
    target: str = ""
    state: str = ""
    evidence: tuple[tuple[str, str], ...] = ()
    story: str = ""
    step: int = 1
    present: Present = Present.OFF
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def published(self) -> str:
        """The key of the published network that is both the source of the records and fitted; "" if there is none."""
        is_one = self.data == "synthetic" and not self.graph and self.source in NAMED
        return self.source if is_one else ""

    def parameter(self, name: str, default: object = None) -> Any:
        """Return the value of a parameter or option: the chosen one, else `default`, else the typical one."""
        chosen = dict(self.parameters)
        if name in chosen or default is not None:
            return chosen.get(name, default)
        parameter = PARAMETERS[name]
        return parameter.typical if isinstance(parameter, Parameter) else next(iter(parameter.options))

    def options(self, page: str) -> Any:
        """Return all options of a page as an instance of its class in `OPTIONS`."""
        kind = OPTIONS[page]
        return kind(**{name: self.parameter(link_name(page, name)) for name in parameters_of(kind)})

    def with_parameter(self, name: str, value: object) -> "Settings":
        """Return the settings with one parameter or option changed. Errors: InputError out of range."""
        checked = PARAMETERS[name].checked(title_at_sentence_start(name), value)
        chosen = {**dict(self.parameters), name: checked}
        return dataclasses.replace(self, parameters=tuple(sorted(chosen.items(), key=lambda item: item[0])))


def parameter_title(name: str) -> str:
    """Return the title of a parameter or an option."""
    return PARAMETERS[name].title or name.rpartition(".")[2]


def title_at_sentence_start(name: str) -> str:
    """Return `parameter_title` with a capital letter, except for a symbol such as epsilon or t."""
    word, parameter = parameter_title(name), PARAMETERS[name]
    symbol = parameter.symbol.removeprefix("\\") if isinstance(parameter, Parameter) else ""
    return word if word == symbol else word[:1].upper() + word[1:]
