"""What a curator and a recipient need: the names of `import dpbayes as dp`, which check the types of arguments."""

from difflib import get_close_matches as _matches
from inspect import isfunction as _isfunction

from dpbayes.audit.adaptive import AdaptiveAudit as AdaptiveAudit
from dpbayes.audit.adaptive import audit_adaptive as audit_adaptive
from dpbayes.audit.draws import audit_by_draws as audit_by_draws
from dpbayes.audit.registry import audit as _audit
from dpbayes.audit.report import AuditReport as _AuditReport  # noqa: F401 - for its attributes
from dpbayes.audit.risk import risk as risk
from dpbayes.base.privacy import Guarantee as Guarantee
from dpbayes.base.privacy import compose as compose
from dpbayes.base.validation import InputError as InputError
from dpbayes.base.validation import type_checked as _checked
from dpbayes.boards.board import Board as _Board  # noqa: F401 - for its attributes
from dpbayes.boards.of_table import explore as explore
from dpbayes.experiments.comparison import compare as compare
from dpbayes.experiments.comparison import least_epsilon as least_epsilon
from dpbayes.mechanisms import MECHANISMS as MECHANISMS
from dpbayes.mechanisms import Calibration as Calibration
from dpbayes.mechanisms import ConsistentLaplace as ConsistentLaplace
from dpbayes.mechanisms import Exact as Exact
from dpbayes.mechanisms import GaussianResiduals as GaussianResiduals
from dpbayes.mechanisms import GaussianUpdates as GaussianUpdates
from dpbayes.mechanisms import LaplaceFourier as LaplaceFourier
from dpbayes.mechanisms import LaplaceUpdates as LaplaceUpdates
from dpbayes.mechanisms import MapExponential as MapExponential
from dpbayes.mechanisms import Noise as Noise
from dpbayes.mechanisms import PosteriorSampler as PosteriorSampler
from dpbayes.mechanisms import Release as Release
from dpbayes.mechanisms.adaptive.release import AdaptiveRelease as AdaptiveRelease
from dpbayes.mechanisms.adaptive.release import simulate_adaptive as simulate_adaptive
from dpbayes.model.cpts import guess as guess
from dpbayes.model.dataset import Counts as Counts
from dpbayes.model.dataset import Dataset as Dataset
from dpbayes.model.dataset import count as count
from dpbayes.model.network import Network as Network
from dpbayes.model.query import query as query
from dpbayes.model.question import Question as Question
from dpbayes.model.synthetic import sample_dataset as sample_dataset
from dpbayes.posteriors.answers import QueryAnswer as QueryAnswer
from dpbayes.posteriors.dirichlet import Dirichlets as Dirichlets
from dpbayes.posteriors.divergence import hellinger as hellinger
from dpbayes.posteriors.divergence import kl as kl
from dpbayes.releases.real import RealRelease as RealRelease
from dpbayes.releases.real import UnaccountedWarning as UnaccountedWarning
from dpbayes.releases.real import load as load
from dpbayes.releases.real import open_ledger as open_ledger
from dpbayes.releases.real import release as release
from dpbayes.releases.real import release_adaptive as release_adaptive
from dpbayes.releases.verify import verify as verify
from dpbayes.sources.bif import read_bif as read_bif
from dpbayes.sources.bif import write_bif as write_bif
from dpbayes.sources.columns import Categories as Categories
from dpbayes.sources.domains import cuts as cuts
from dpbayes.sources.domains import declare as declare
from dpbayes.sources.domains import read_domains as read_domains
from dpbayes.sources.domains import write_domains as write_domains
from dpbayes.sources.edgelist import network as network
from dpbayes.sources.edgelist import write_edges as write_edges
from dpbayes.sources.engines.table import DeclaredTable as DeclaredTable
from dpbayes.sources.engines.table import open_table as open_table
from dpbayes.sources.files import read_table as read_table
from dpbayes.sources.interchange import from_networkx as from_networkx
from dpbayes.sources.interchange import from_pgmpy as from_pgmpy
from dpbayes.sources.interchange import to_pgmpy as to_pgmpy
from dpbayes.sources.named_networks import chain as chain
from dpbayes.sources.named_networks import empty as empty
from dpbayes.sources.named_networks import full as full
from dpbayes.sources.named_networks import load_named as load_named
from dpbayes.sources.named_networks import naive_bayes as naive_bayes
from dpbayes.sources.named_networks import tree as tree
from dpbayes.sources.shipped_tables import default_network as default_network
from dpbayes.sources.shipped_tables import load_shipped as load_shipped
from dpbayes.sources.table import Table as Table

audit_report = _audit


def _refuse_name(value: object, name: str) -> object:
    """Refuse an attribute that an object does not have, with the names nearest to it if a person has written it."""
    if name.startswith("_"):
        raise AttributeError(name)
    names = _matches(name, [own for own in dir(value) if not own.startswith("_")], 12, 0)
    kind = type(value).__name__
    raise AttributeError(
        f"{'An' if kind[0] in 'AEIO' else 'A'} {kind} has no {name}; it has, for example, {', '.join(names)}."
    )


for _name, _value in [*globals().items()]:
    if not _name.startswith("_") and _isfunction(_value):  # classes are checked where they are defined
        globals()[_name] = _checked(_value, _name)
    elif isinstance(_value, type):
        _value.__getattr__ = _refuse_name  # type: ignore[attr-defined]
