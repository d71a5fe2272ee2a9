"""A table, its domains and a release of it, small enough to be looked through."""

from fractions import Fraction
from pathlib import Path

from dpbayes.base.amounts import Rho
from dpbayes.model.dataset import count
from dpbayes.releases import ledger
from dpbayes.releases.document.request import ReleaseRequest
from dpbayes.releases.publishing import Published, publish
from dpbayes.sources.columns import Categories, encode
from dpbayes.sources.domains import DeclaredColumn, write_domains
from dpbayes.sources.edgelist import network
from dpbayes.sources.files import read_table

CSV = "rain,grass\n" + "no,dry\n" * 30 + "yes,wet\n" * 20 + "yes,dry\n" * 6 + ",wet\n" * 4
"""Sixty records; of four nobody knows whether it rained."""

STATES = {"rain": ("no", "yes", "unknown"), "grass": ("dry", "wet")}

COLUMNS = (
    DeclaredColumn("rain", Categories("rain", ("no", "yes"), public=True, missing="unknown")),
    DeclaredColumn("grass", Categories("grass", ("dry", "wet"), public=True, missing="unknown")),
)

NETWORK = network("rain -> grass", STATES | {"grass": ("dry", "wet", "unknown")})


def written(folder: Path) -> tuple[Path, Path]:
    """Write the table and its domain description, and return where."""
    table, domains = folder / "garden.csv", folder / "domains.json"
    table.write_text(CSV, encoding="utf-8")
    domains.write_text(write_domains(COLUMNS), encoding="utf-8")
    return table, domains


def request_with(**other: object) -> ReleaseRequest:
    """Return a request about the table, with other values for its fields."""
    usual = {
        "dataset": "garden",
        "network": NETWORK,
        "mechanism": "laplace",
        "n": 60,
    }
    loss = {} if "rho" in other else {"epsilon": Fraction(1, 2)}
    return ReleaseRequest(**(usual | loss | other))  # type: ignore[arg-type]


def counts():
    """Return the table's counts."""
    frame = read_table("garden.csv", CSV.encode()).frame
    return count(NETWORK, encode(frame, [column.domain for column in COLUMNS if column.domain is not None]))


def opened(folder: Path, budget: str = "2") -> Path:
    """Begin a ledger with the table's budget."""
    path = folder / "ledger.sqlite"
    ledger.open_dataset(path, "garden", Fraction(budget), reason="for a test")
    return path


def opened_in_rho(folder: Path, budget: str = "2") -> Path:
    """Begin a ledger with a budget of the table's that is kept in rho."""
    path = folder / "ledger.sqlite"
    ledger.open_dataset(path, "garden", Rho(Fraction(budget)), reason="for a test")
    return path


def released(folder: Path, **other: object) -> Published:
    """Make a release of the table in a ledger of its own."""
    return publish(opened(folder), request_with(**other), counts())
