"""Tables that come with the program, each with public domains from its codebook and a sensible first network."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from dpbayes.base.validation import InputError, brief
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.sources.columns import Categories, Column, CountAs, Cuts, Groups, OwnState, encode
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.named_networks import Content, read_shipped
from dpbayes.sources.tables import read_csv

Edges = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ShippedTable:
    """A table of data/tables: what it is, where it is from, its public columns, and a network to begin with."""

    key: str
    file: str
    title: str
    description: str
    source: str
    columns: tuple[Column, ...]
    default_edges: Edges

    @property
    def default_nodes(self) -> tuple[str, ...]:
        """All columns, in order."""
        return tuple(column.name for column in self.columns)


@functools.lru_cache(maxsize=4)
def load_shipped(key: str) -> Dataset:
    """Return a table of SHIPPED with every column it lists. Errors: InputError naming an unknown key, or its file."""
    return read_shipped_table(key, lambda frame: encode(frame, _shipped(key).columns))


def shipped_frame(key: str) -> pd.DataFrame:
    """Return the whole file of a table of SHIPPED as a frame of text, with the columns that it does not list too."""
    return read_shipped_table(key, lambda frame: frame)


def read_shipped_table(key: str, read: Callable[[pd.DataFrame], Content]) -> Content:
    """Return what `read` makes of the whole file of a table of SHIPPED, as a frame of text.

    Errors: InputError naming an unknown key, or a file that is missing or is not what `read` was written for.
    """
    return read_shipped(f"tables/{_shipped(key).file}.csv.gz", lambda content: read(read_csv(content)))


def shipped_domains(key: str) -> tuple[DeclaredColumn, ...]:
    """Return what is declared of every column of the file of a table of SHIPPED; those it does not list are unused."""
    listed = {column.name: column for column in _shipped(key).columns}
    return tuple(DeclaredColumn(name, listed.get(name), use=name in listed) for name in shipped_frame(key).columns)


def default_network(key: str) -> Network:
    """Return the network to begin with for a table of SHIPPED, over all its columns and their domains."""
    table = _shipped(key)
    return Network.from_edges(
        table.default_nodes, table.default_edges, {column.name: column.domain for column in table.columns}
    )


def _shipped(key: str) -> ShippedTable:
    if key not in SHIPPED:
        raise InputError(f"There is no table {brief(key)}; choose one of {', '.join(SHIPPED)}.")
    return SHIPPED[key]


def _arrows(*families: tuple[str, str]) -> Edges:
    """Arrows from "child", "its parents in one text"."""
    return tuple((parent, child) for child, parents in families for parent in parents.split())


def _yes_no(name: str, yes: str, no: str) -> Groups:
    return Groups(name, (("no", (no,)), ("yes", (yes,))), public=True)


# Congressional votes

_VOTES = (
    "handicapped_infants",
    "water_project_cost_sharing",
    "adoption_of_the_budget_resolution",
    "physician_fee_freeze",
    "el_salvador_aid",
    "religious_groups_in_schools",
    "anti_satellite_test_ban",
    "aid_to_nicaraguan_contras",
    "mx_missile",
    "immigration",
    "synfuels_corporation_cutback",
    "education_spending",
    "superfund_right_to_sue",
    "crime",
    "duty_free_exports",
    "export_administration_act_south_africa",
)

_HOUSE_VOTES = ShippedTable(
    key="house_votes_84",
    file="house_votes_84",
    title="Congressional votes 1984",
    description=(
        "How 435 members of the U.S. House of Representatives voted on 16 bills, and their party. All 17 columns are "
        'binary: the 392 blanks mean "neither yea nor nay" and count as "n".'
    ),
    source=(
        "UCI Machine Learning Repository, Congressional Voting Records (1987), from the Congressional Quarterly "
        "Almanac, 98th Congress, 2nd session 1984; doi 10.24432/C5C01P; CC BY 4.0."
    ),
    columns=(
        Categories("party", ("democrat", "republican"), public=True),
        *(Categories(vote, ("n", "y"), public=True, missing=CountAs("n")) for vote in _VOTES),
    ),
    default_edges=tuple(("party", vote) for vote in _VOTES),
)

# Adult

_ADULT_SOURCE = (
    "Becker and Kohavi (1996), Adult, UCI Machine Learning Repository; doi 10.24432/C5XW20; CC BY 4.0. Extracted "
    "from the 1994 Current Population Survey of the U.S. Census Bureau."
)
_WORKCLASS = (
    "Private",
    "Self-emp-not-inc",
    "Self-emp-inc",
    "Federal-gov",
    "Local-gov",
    "State-gov",
    "Without-pay",
    "Never-worked",
)
_OCCUPATION = (
    "Tech-support",
    "Craft-repair",
    "Other-service",
    "Sales",
    "Exec-managerial",
    "Prof-specialty",
    "Handlers-cleaners",
    "Machine-op-inspct",
    "Adm-clerical",
    "Farming-fishing",
    "Transport-moving",
    "Priv-house-serv",
    "Protective-serv",
    "Armed-Forces",
)
_MARRIED = ("Married-civ-spouse", "Married-AF-spouse")
_NOT_MARRIED = ("Never-married", "Divorced", "Separated", "Widowed", "Married-spouse-absent")
_RACE = ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black")
_SEX = Categories("sex", ("Female", "Male"), public=True)
_INCOME = Categories("income", ("<=50K", ">50K"), public=True)
_GAIN = Cuts("capital_gain", (1,), public=True)
_LOSS = Cuts("capital_loss", (1,), public=True)

_ADULT = ShippedTable(
    key="adult",
    file="adult",
    title="Adult census income",
    description=(
        "48,842 adults of the 1994 census survey: work, education, family, and whether income is above $50,000. "
        "12 columns; numbers are cut at fixed public points; a missing value is a state of its own."
    ),
    source=_ADULT_SOURCE,
    columns=(
        Cuts("age", (25, 35, 45, 60), public=True),
        _SEX,
        Categories("race", _RACE, public=True),
        Cuts("education_num", (9, 10, 13, 14), public=True),
        Categories("marital_status", _MARRIED + _NOT_MARRIED, public=True),
        Categories(
            "relationship",
            ("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),
            public=True,
        ),
        Categories("workclass", _WORKCLASS, public=True, missing=OwnState()),
        Categories("occupation", _OCCUPATION, public=True, missing=OwnState()),
        Cuts("hours_per_week", (35, 41, 50), public=True),
        _GAIN,
        _LOSS,
        _INCOME,
    ),
    default_edges=_arrows(
        ("education_num", "age race"),
        ("marital_status", "age"),
        ("relationship", "sex marital_status"),
        ("workclass", "age"),
        ("occupation", "sex education_num"),
        ("hours_per_week", "age sex"),
        ("income", "age education_num marital_status"),
        ("capital_gain", "income"),
        ("capital_loss", "income"),
    ),
)

_ADULT_BINARY = ShippedTable(
    key="adult_binary",
    file="adult",
    title="Adult census income, binary",
    description=(
        "The same 48,842 adults with 9 columns, every one cut or grouped into two states at fixed public points: "
        "what mechanisms for binary nodes need. No column used here has missing values."
    ),
    source=_ADULT_SOURCE,
    columns=(
        Cuts("age", (40,), public=True),
        _SEX,
        Groups("race", (("other", tuple(r for r in _RACE if r != "White")), ("White", ("White",))), public=True),
        Cuts("education_num", (13,), public=True),
        Groups("marital_status", (("not married", _NOT_MARRIED), ("married", _MARRIED)), public=True),
        Cuts("hours_per_week", (41,), public=True),
        _GAIN,
        _LOSS,
        _INCOME,
    ),
    default_edges=_arrows(
        ("education_num", "age race"),
        ("marital_status", "age sex"),
        ("hours_per_week", "sex education_num"),
        ("income", "age education_num marital_status"),
        ("capital_gain", "income"),
        ("capital_loss", "income"),
    ),
)

# Fulton County

_FULTON_SOURCE = (
    "U.S. Census Bureau, Census 2000, 5 % Public Use Microdata Sample (public domain in the United States), as "
    "recoded in the course material of Harvard's CS208; the codes of sex, educ and englishability follow the course "
    "and were not checked against the census."
)
FULTON_FLAGS = (
    "latino",
    "black",
    "asian",
    "married",
    "divorced",
    "uscitizen",
    "children",
    "disability",
    "militaryservice",
    "employed",
)
_FULTON_CODED: tuple[Column, ...] = (
    Categories("sex", ("0", "1"), public=True),
    *(_yes_no(name, "1", "0") for name in FULTON_FLAGS),
    Categories("englishability", ("0", "1"), public=True),
)
_FULTON_EDGES = _arrows(
    ("uscitizen", "latino asian"),
    ("englishability", "latino uscitizen"),
    ("married", "age black"),
    ("divorced", "age married"),
    ("children", "age married"),
    ("educ", "age black uscitizen"),
    ("militaryservice", "age sex"),
    ("disability", "age educ"),
    ("employed", "age disability children"),
    ("income", "educ employed sex"),
)

_FULTON = ShippedTable(
    key="fulton",
    file="fulton_pums2000",
    title="Fulton County census",
    description=(
        "25,766 adults of Fulton County, Georgia, in the census of 2000: 15 columns; age, education and annual income "
        "in US dollars are cut at fixed public points."
    ),
    source=_FULTON_SOURCE,
    columns=(
        Cuts("age", (25, 35, 45, 55, 65), public=True),
        Cuts("educ", (9, 10, 13, 14), public=True),
        Cuts("income", (1, 10_000, 25_000, 50_000, 100_000), public=True),
        *_FULTON_CODED,
    ),
    default_edges=_FULTON_EDGES,
)

_FULTON_BINARY = ShippedTable(
    key="fulton_binary",
    file="fulton_pums2000",
    title="Fulton County census, binary",
    description=(
        "The same 25,766 adults; all 15 columns are binary: age is cut at 40 years, education at a bachelor's degree "
        "(code 13), annual income at 25,000 US dollars."
    ),
    source=_FULTON_SOURCE,
    columns=(
        Cuts("age", (40,), public=True),
        Cuts("educ", (13,), public=True),
        Cuts("income", (25_000,), public=True),
        *_FULTON_CODED,
    ),
    default_edges=_FULTON_EDGES,
)

SHIPPED: dict[str, ShippedTable] = {
    table.key: table for table in (_HOUSE_VOTES, _ADULT, _ADULT_BINARY, _FULTON, _FULTON_BINARY)
}
