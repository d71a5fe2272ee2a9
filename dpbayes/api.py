"""What a curator and a recipient need: the names of `import dpbayes as dp`."""

from dpbayes.audit.adaptive import AdaptiveAudit, audit_adaptive
from dpbayes.audit.draws import audit_by_draws
from dpbayes.audit.registry import audit as audit_report
from dpbayes.audit.risk import risk
from dpbayes.base.privacy import Guarantee, compose
from dpbayes.base.validation import InputError
from dpbayes.boards.of_table import explore
from dpbayes.experiments.comparison import compare, least_epsilon
from dpbayes.guesses import guess
from dpbayes.mechanisms import (
    MECHANISMS,
    Calibration,
    ConsistentLaplace,
    Exact,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceFourier,
    LaplaceUpdates,
    MapExponential,
    Noise,
    PosteriorSampler,
    Release,
)
from dpbayes.mechanisms.adaptive.release import AdaptiveRelease, simulate_adaptive
from dpbayes.model.counts import Counts, count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.query import query
from dpbayes.model.question import Question
from dpbayes.model.synthetic import sample_dataset
from dpbayes.posteriors.answers import QueryAnswer
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import hellinger, kl
from dpbayes.releases.real import RealRelease, UnaccountedWarning, load, open_ledger, release, release_adaptive
from dpbayes.releases.verify import verify
from dpbayes.sources.bif import read_bif, write_bif
from dpbayes.sources.columns import Categories
from dpbayes.sources.domains import cuts, declare, read_domains, write_domains
from dpbayes.sources.edgelist import network, write_edges
from dpbayes.sources.engines.table import DeclaredTable, open_table
from dpbayes.sources.files import read_table
from dpbayes.sources.interchange import from_networkx, from_pgmpy, to_pgmpy
from dpbayes.sources.named_networks import chain, empty, full, load_named, naive_bayes, tree
from dpbayes.sources.shipped_tables import default_network, load_shipped
from dpbayes.sources.table import Table

__all__ = [
    "MECHANISMS",
    "AdaptiveAudit",
    "AdaptiveRelease",
    "Calibration",
    "Categories",
    "ConsistentLaplace",
    "Counts",
    "Dataset",
    "DeclaredTable",
    "Dirichlets",
    "Exact",
    "GaussianResiduals",
    "GaussianUpdates",
    "Guarantee",
    "InputError",
    "LaplaceFourier",
    "LaplaceUpdates",
    "MapExponential",
    "Network",
    "Noise",
    "PosteriorSampler",
    "QueryAnswer",
    "Question",
    "RealRelease",
    "Release",
    "Table",
    "UnaccountedWarning",
    "audit_adaptive",
    "audit_by_draws",
    "audit_report",
    "chain",
    "compare",
    "compose",
    "count",
    "cuts",
    "declare",
    "default_network",
    "empty",
    "explore",
    "from_networkx",
    "from_pgmpy",
    "full",
    "guess",
    "hellinger",
    "kl",
    "least_epsilon",
    "load",
    "load_named",
    "load_shipped",
    "naive_bayes",
    "network",
    "open_ledger",
    "open_table",
    "query",
    "read_bif",
    "read_domains",
    "read_table",
    "release",
    "release_adaptive",
    "risk",
    "sample_dataset",
    "simulate_adaptive",
    "to_pgmpy",
    "tree",
    "verify",
    "write_bif",
    "write_domains",
    "write_edges",
]
