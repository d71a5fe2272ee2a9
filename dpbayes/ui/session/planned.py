"""Public probabilities of the chosen network, from which planned tables are sampled: they depend on no record."""

from dpbayes.base.randomness import stream
from dpbayes.base.types import FloatArray
from dpbayes.experiments.planned_tables import PlannedTables
from dpbayes.model.cpts import random_cpts
from dpbayes.sources.named_networks import NAMED, load_named
from dpbayes.ui.session.chosen import Chosen

USUAL_RECORDS = 1_000
"""The number of records of a planned table if the table in use has no public number of records."""


def public_cpts(chosen: Chosen) -> tuple[FloatArray, bool]:
    """Return probabilities that depend on no record, and whether they are published: others are generated."""
    key = chosen.settings.fitted
    if key in NAMED:
        network, cpts = load_named(key)
        if network == chosen.network:
            return cpts, True
    return random_cpts(chosen.network, stream(chosen.seed, "best_noise", "cpts")), False


def planned_tables_of(chosen: Chosen) -> PlannedTables:
    """Return planned tables with as many records as the table in use. Errors: InputError without a network."""
    return PlannedTables(chosen.network, public_cpts(chosen)[0], chosen.n or USUAL_RECORDS, chosen.seed)
