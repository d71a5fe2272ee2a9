"""What a file of a page is called, and what a saved chart says of its settings."""

import re
from collections.abc import Callable, Mapping

from dpbayes.base.validation import InputError
from dpbayes.experiments.regression.scenario import Records
from dpbayes.mechanisms import PRIVATE, PosteriorSampler
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.connected import records_of
from dpbayes.ui.session.options.accuracy import Scene
from dpbayes.ui.session.options.audit import AuditSubject
from dpbayes.ui.session.place import shown_place
from dpbayes.ui.session.settings import Seat, Settings, current, query_of

REAL = "ledger"
"""The page whose charts are of real releases and their budgets."""

LONGEST_VALUE, LONGEST_NAME = 40, 120
"""Characters of a setting, such as a drawn network's text, and of the name of a file."""

_OF_THE_VIEW = ("seat", "story", "step", "present")
"""Settings that change who looks and in which story, and not what is drawn."""

_OF_THE_CURATOR = ("data_seed",)
"""Settings that tell the very records, which a recipient does not see, nor in the name of a file."""

_OF_ALL_PAGES = "release"
"""The page whose options, how releases are read and which tables matter, count on others too."""


# The names of files


def offered_name(name: str, end: str, *, simulates: bool = False, curator_only: bool = False) -> str:
    """Return the name of a file that the page at hand offers at its settings, with its end."""
    private = "curator-only-" if curator_only else ""
    return f"{private}{file_name(shown_place(), name, current(), simulates=simulates)}.{end}"


def file_name(page: str, name: str, settings: Settings, *, simulates: bool = False) -> str:
    """Return the name of a file, without its end: page, what is in it and settings, in plain characters."""
    return plain_name(page, name, _short(page, settings), simulates=simulates)


def plain_name(page: str, name: str, values: Mapping[str, str], *, simulates: bool = False) -> str:
    """Return the same of what is told of it in other words than the settings'."""
    first, words = _words(page), _words(name)
    own = words[len(first) :] if words[: len(first)] == first else words
    parts = [page, *own, *["simulation"] * simulates, *(f"{key}={value}" for key, value in values.items())]
    return re.sub(r"[^\w.=-]+", "-", " ".join(parts), flags=re.ASCII).strip("-.")[:LONGEST_NAME]


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())


# The line below a chart


def settings_told(page: str, chosen: Chosen, *, simulates: bool = False) -> str:
    """Return the line below a saved chart: page, mechanism, epsilon, table and n, where they apply, and what differs.

    It says whether releases were simulated, and for whom the chart was drawn.
    """
    facts = {name: _cut(fact) for name in _FACTS.get(page, ()) if (fact := _TELLERS[name](page, chosen))}
    spoken_for = {key.format(page=page) for name in facts for key in _KEYS[name]}
    others = {key: value for key, value in _short(page, chosen.settings).items() if key not in spoken_for}
    kind = "" if page == REAL else f" A {'simulation' if simulates else 'picture'}, not a release."
    private = " Drawn for the curator: it may show what is not private." if chosen.is_curator else ""
    return f"{_line(page, facts | others)}{kind}{private}"


def release_told(page: str, facts: Mapping[str, str]) -> str:
    """Return the line below a chart of a release that was made: what is set on the page is not what it is of."""
    return _line(page, {name: _cut(fact) for name, fact in facts.items()})


def _line(page: str, told: Mapping[str, str]) -> str:
    values = ", ".join(f"{name} = {value}" for name, value in told.items())
    return f"dpbayes, page {page or 'home'}{f': {values}' if values else ''}."


_FACTS: dict[str, tuple[str, ...]] = {
    "data": ("table", "n"),
    "network": ("epsilon", "table", "n"),
    "which_epsilon": ("mechanism", "n"),
    "release": ("mechanism", "epsilon", "table", "n"),
    "audit": ("mechanism", "epsilon", "table", "n"),
    "sampling": ("mechanism", "epsilon", "table", "n"),
    "hellinger": ("epsilon", "n"),
    "bounds": ("epsilon", "table", "n"),
    "stealth": ("epsilon", "table", "n"),
    "structure": ("epsilon",),
    "best_noise": ("epsilon", "table"),
    "robustness": ("n",),
    "accuracy": ("epsilon", "table", "n"),
    "regression": ("epsilon", "table", "n"),
}
"""What the pictures of a page depend on."""

_KEYS = {
    "mechanism": ("mechanism", "audit.subject"),
    "epsilon": ("epsilon", "regression.epsilon"),
    "table": ("data",),
    "n": ("records", "{page}.n", "{page}.records"),
}
"""The settings that a fact speaks for."""


def _mechanism(page: str, chosen: Chosen) -> str:
    if page == "sampling":
        return PosteriorSampler.label
    subject = chosen.options("audit").subject
    if page == "audit" and subject is not AuditSubject["RELEASE"]:
        return str(subject.value)
    return kind_called(chosen.settings.mechanism).label


def _epsilon(page: str, chosen: Chosen) -> str:
    epsilon = chosen.parameter("regression.epsilon" if page == "regression" else "epsilon")
    return str(epsilon).removesuffix(".0")


def _table(page: str, chosen: Chosen) -> str:
    if page == "regression":
        return str(chosen.options("regression").records.value)
    if page == "accuracy" and not _is_of_table(chosen):
        return str(chosen.options(page).scene.value)
    return "" if _is_hypothetical(page, chosen) else chosen.data_title


def _n(page: str, chosen: Chosen) -> str:
    if page in ("robustness", "which_epsilon") or (page == "accuracy" and not _is_of_table(chosen)):
        return f"{chosen.options(page).records:,}"
    if page == "hellinger" or _is_hypothetical(page, chosen):
        return f"{chosen.options(page).n:,}"
    if page == "regression":
        options = chosen.options(page)
        return f"{options.n:,}" if options.records is Records.SYNTHETIC else ""
    n = _records(chosen)
    return "" if n is None else f"{n:,}"


def _is_of_table(chosen: Chosen) -> bool:
    """Whether Accuracy shows the table at hand, and not records that it makes up."""
    return chosen.options("accuracy").scene is Scene.TABLE


def _is_hypothetical(page: str, chosen: Chosen) -> bool:
    """Whether the page shows an audit of tables that belong to no network."""
    subject = chosen.options("audit").subject
    known = (AuditSubject["RELEASE"], *(AuditSubject[kind.__name__] for kind in PRIVATE))
    return page == "audit" and subject not in known


def _records(chosen: Chosen) -> int | None:
    """Return the public number of records as far as it is known by now: a line below a chart counts no table."""
    if chosen.settings.data == "synthetic":
        return chosen.settings.records
    try:
        return records_of(chosen.connected) if chosen.is_connected else chosen.n
    except InputError:
        return None


_TELLERS: dict[str, Callable[[str, Chosen], str]] = {
    "mechanism": _mechanism,
    "epsilon": _epsilon,
    "table": _table,
    "n": _n,
}
"""What tells a fact of a page as it stands in the line; "" where the page has none as it is set."""


def _short(page: str, settings: Settings) -> dict[str, str]:
    """Return what differs from the defaults, what is too long to be read cut short; of options, those that count."""
    hidden = _OF_THE_VIEW + (_OF_THE_CURATOR if settings.seat is Seat.RECIPIENT else ())
    told = {key: _cut(value) for key, value in query_of(settings).items() if key not in hidden}
    return {key: value for key, value in told.items() if key.rpartition(".")[0] in ("", page, _OF_ALL_PAGES)}


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"
