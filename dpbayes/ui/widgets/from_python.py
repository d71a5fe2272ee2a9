"""Python code that computes the numbers of a page, to copy and run.

Each page combines the parts in this module: the network, the table, a mechanism. Each page ensures that the code for a
recipient does not contain a table that the recipient must not see.
"""

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

import dpbayes as dp
from dpbayes.boards.board import View
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.prior_rules import PriorRule, rule_for, rule_of
from dpbayes.sources.domains import DeclaredColumn, write_domains
from dpbayes.sources.named_networks import NAMED, load_named
from dpbayes.sources.shipped_tables import SHIPPED, default_network
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.settings import Cpts
from dpbayes.ui.session.uploads import upload

FACE = "import dpbayes as dp"
STREAM = "from dpbayes.base.randomness import stream"

DESCRIPTION = "domains.json"
"""The file from which the code reads the domains of the person's own columns."""


def show_python(python: str, name: str, chosen: Chosen) -> None:
    """Show code whose last line prints the numbers of the page, and offer the domain description that it reads."""
    st.code(python, language="python", wrap_lines=True)
    if DESCRIPTION in python:
        _description_beside(python, name, chosen)


def _description_beside(python: str, name: str, chosen: Chosen) -> None:
    """State which files the code reads from its folder, and offer the domain description."""
    used = chosen.declared
    other = " and the file that you loaded" * ("read_table(" in python)
    sentences = f"The code reads {DESCRIPTION}{other} from the folder that it runs in."
    if not all(column.public for column in used):
        sentences += (
            " The description also contains domains that were read from the data; these are not marked as public."
        )
    st.caption(sentences)
    download_button(
        f"Download {DESCRIPTION}",
        write_domains(DeclaredColumn(column.name, column) for column in used),
        DESCRIPTION,
        mime="application/json",
        key=f"python.{name}.domains",
    )


def program(*parts: str) -> str:
    """Return parts of code as one program, with the imports at the top, each once."""
    lines = "\n".join(parts).splitlines()
    imports = dict.fromkeys(line for line in lines if line.startswith(("import ", "from ")))
    others = [line for line in lines if line not in imports]
    first = sorted(imports, key=lambda line: (line != FACE, line.startswith("from "), line))
    return "\n".join([*first, "", *others])


def network_in_python(network: Network) -> str:
    """Return the code that creates `network`: by its name, or written out."""
    if key := next((key for key in SHIPPED if default_network(key) == network), ""):
        return f"from dpbayes.sources.shipped_tables import default_network\nnetwork = default_network({key!r})"
    if key := next((key for key in NAMED if load_named(key)[0] == network), ""):
        return f"network, _ = dp.load_named({key!r})"
    states = dict(zip(network.names, network.states, strict=True))
    return f"network = dp.Network.from_edges({list(network.names)!r}, {list(network.edges)!r}, {states!r})"


# The table


def table_in_python(chosen: Chosen) -> str:
    """Return the code that creates the table, as `data`. Errors: InputError without a table."""
    settings = chosen.settings
    if settings.data == "synthetic":
        return _synthetic(chosen)
    if settings.data in SHIPPED:
        return f"data = dp.load_shipped({settings.data!r})"
    described = f'columns = dp.declare("{DESCRIPTION}")  # the file is offered beside this code'
    if chosen.is_connected:
        address = 'dp.open_table("…")  # the table’s address, as given by the person who started the server'
        return f"{described}\nengine = {address}\ndata = dp.DeclaredTable(engine, columns)"
    return f"{described}\n{_file()}\ndata = dp.Table.from_frame(frame, columns)"


def _file() -> str:
    """Return the code that reads the uploaded file, as `frame`."""
    mine = upload()
    name = mine.title if mine is not None else "table.csv"
    if key := next((key for key, table in SHIPPED.items() if mine is not None and table.title == name), ""):
        return f"from dpbayes.sources.shipped_tables import shipped_frame\nframe = shipped_frame({key!r})"
    return f"frame = dp.read_table({name!r}).frame  # the file that was loaded here"


def _synthetic(chosen: Chosen) -> str:
    """Return the code that draws the very records again; it leaves `network` as the one that they are drawn from."""
    settings, (network, probabilities) = chosen.settings, chosen.truth
    seed = settings.data_seed
    if settings.cpts is Cpts.GIVEN:
        truth = f"{network_in_python(network)}\nprobabilities = {np.asarray(probabilities).tolist()!r}"
    else:
        truth = public_source_in_python(chosen)
    draw = f'dp.sample_dataset(network, probabilities, {settings.records!r}, stream({seed!r}, "records"))'
    return f"{STREAM}\n{truth}\ndata = {draw}"


def public_source_in_python(chosen: Chosen) -> str:
    """Return the code that creates `network` and `probabilities` of the source: published, else random."""
    settings = chosen.settings
    if settings.source in NAMED and (settings.data != "synthetic" or settings.cpts is Cpts.PUBLISHED):
        return f"network, probabilities = dp.load_named({settings.source!r})"
    random = f'probabilities = random_cpts(network, stream({settings.data_seed!r}, "cpts"))'
    return f"from dpbayes.model.cpts import random_cpts\n{network_in_python(chosen.truth[0])}\n{random}"


def counts_in_python(chosen: Chosen) -> str:
    """Return the code that creates `network` and the table's `counts`. Errors: InputError without a table."""
    drawn_from_it = chosen.settings.data == "synthetic" and chosen.truth[0] == chosen.network
    network = [] if drawn_from_it else [network_in_python(chosen.network)]
    return "\n".join([table_in_python(chosen), *network, "counts = dp.count(network, data)"])


# Mechanisms and other values


def value_in_python(name: str, value: object) -> str:
    """Return the code that assigns a value of frozen dataclasses, enums and numbers to a name; it uses `network`."""
    imports: dict[str, None] = {}
    assignment = f"{name} = {_expression(value, imports)}"
    return "\n".join([*imports, assignment])


def _expression(value: object, imports: dict[str, None]) -> str:
    """Return a value as an expression, and add the imports that it needs, apart from `dpbayes`, to `imports`."""
    if isinstance(value, Network):
        return "network"
    if isinstance(value, Dirichlets):
        rule = rule_of(value)
        assert rule is not None  # a page has no other priors
        return rule_in_python(rule, "network")
    if isinstance(value, enum.Enum):
        return f"{_class(type(value), imports)}.{value.name}"
    if isinstance(value, tuple):
        return "(" + "".join(f"{_expression(item, imports)}, " for item in value).removesuffix(" ") + ")"
    if callable(value):
        return _imported(value, imports)
    if isinstance(value, np.generic):
        return repr(value.item())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field for field in dataclasses.fields(value) if field.init and _is_written(value, field)]
        arguments = ", ".join(f"{field.name}={_field(value, field.name, imports)}" for field in fields)
        return f"{_class(type(value), imports)}({arguments})"
    return repr(value)


def _field(value: object, name: str, imports: dict[str, None]) -> str:
    """Return a field as an expression; a network stands for the usual prior of a mechanism."""
    item = getattr(value, name)
    is_usual = isinstance(item, Dirichlets) and np.array_equal(
        item.alpha, rule_for(type(value), PriorRule()).on(item.network).alpha
    )
    return "network" if is_usual else _expression(item, imports)


def _is_written(value: object, field: "dataclasses.Field[object]") -> bool:
    """Whether the value of a field differs from its default."""
    return field.default is dataclasses.MISSING or getattr(value, field.name) != field.default


def board_in_python(board: Callable[[Any], View], inputs: object, value: str, network: Network | None = None) -> str:
    """Return the code that prints the numbers of a board at a stop of its slider; `inputs` may have a `network`."""
    return program(
        FACE,
        *([network_in_python(network)] if network else []),
        value_in_python("inputs", inputs),
        f"from {board.__module__} import {board.__name__}",
        f"(frame,) = {board.__name__}(inputs).frames_at({value!r})",
        "print(frame.numbers)",
    )


def rule_in_python(rule: PriorRule, network: str) -> str:
    """Return the expression of the prior of a network, by the network's name."""
    size = "" if rule.size == rule.kind.usual else f", {rule.size!r}"
    return f"dp.Dirichlets.{rule.kind.value}({network}{size})"


def _class(kind: type, imports: dict[str, None]) -> str:
    if hasattr(dp, kind.__name__):
        return f"dp.{kind.__name__}"
    return _imported(kind, imports)


def _imported(value: Any, imports: dict[str, None]) -> str:
    imports[f"from {value.__module__} import {value.__name__}"] = None
    return str(value.__name__)
