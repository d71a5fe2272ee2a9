"""The claims of the rest of [Zhang16] on the Bounds page.

Lemma 2 and Lemma 3 are shown for as many nodes as the network at hand has, with constants that are known exactly:
binary nodes that reach L_i = L i/|I|, and independent exponential nodes under Exp(c).
"""

import math
from dataclasses import replace

import numpy as np
from scipy import special

from dpbayes.audit.noise import LaplaceNoise
from dpbayes.base.types import IntArray
from dpbayes.base.validation import InputError
from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import Bound, flat
from dpbayes.theory.claims.exhibit import Exhibit, Says
from dpbayes.theory.claims.setting import At, Axis, Subject
from dpbayes.theory.claims.truth import Measured, exactly
from dpbayes.theory.zhang16 import counts as updates
from dpbayes.theory.zhang16 import formulas_more as formulas
from dpbayes.theory.zhang16 import map, regression, stealth
from dpbayes.theory.zhang16 import smoothness as lipschitz
from dpbayes.theory.zhang16.shared import trimmed_row

LOSS_TEXT = ("promises a privacy loss of {} nats", "privacy loss of one record, nats")


# Counts


def lemma_1(subject: Subject, at: At) -> Bound:
    """[Zhang16] Lemma 1."""
    return flat(updates.lemma_1(subject.network))


def moved_counts(network: Network) -> IntArray:
    """Return how two records that differ in every column differ in their counts: (K,). [Zhang16] Lemma 1."""
    first = np.zeros((1, len(network.names)), dtype=np.uint8)
    last = np.array([[len(states) - 1 for states in network.states]], dtype=np.uint8)
    before, after = (count(network, Dataset(network.names, network.states, codes)).values for codes in (first, last))
    return after - before


def largest_move(subject: Subject, at: At, bound: Bound) -> Measured:
    """Count two records that differ in every column; without records there is none to replace."""
    moved = float(np.abs(moved_counts(subject.network)).sum()) if subject.records else 0.0
    return exactly(np.full(bound.printed.shape, moved), printed=bound.printed, name="largest exact change")


def corollary_1(subject: Subject, at: At) -> Bound:
    """[Zhang16] Corollary 1."""
    return updates.corollary_1(subject.network, epsilon=at.epsilons)


def laplace_loss(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the exact loss of the printed noise on what two records that differ in every column move."""
    moved = int(np.count_nonzero(moved_counts(subject.network)))
    steps = at.epsilons / (2 * len(subject.network.names))
    loss = np.array([LaplaceNoise(moved, step).pure_epsilon for step in steps])
    return exactly(loss, printed=bound.printed, name="exact loss of one pair")


# Trying again


def reruns(subject: Subject, at: At) -> Bound:
    """[Zhang16] Section 3.2, Re-running."""
    return stealth.rerun_bound(at.epsilons, at.knobs.runs)


def rerun_loss(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the exact loss of a mechanism whose first success gives nearly twice epsilon away; one run loses epsilon."""
    loss = at.epsilons if at.knobs.runs < 2 else formulas.first_success_loss(at.epsilons)
    return exactly(loss, printed=bound.printed, name="exact loss of an example")


# Smoothness


def lemma_2(subject: Subject, at: At) -> Bound:
    """[Zhang16] Lemma 2, for nodes with constants L i/|I|, and a record that changes every family by distance 1."""
    constants = formulas.node_constants(subject, at)
    return flat(lipschitz.lemma_2(constants, distances=np.ones(len(constants))))


def log_likelihood_move(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find how far ln p moves from the likelier to the rarer state in each of binary nodes that reach their constants.

    Such a node has probabilities 1/(1 + exp(-L_i)) and 1/(1 + exp(L_i)).
    """
    constants = formulas.node_constants(subject, at)
    moved = special.log_expit(constants).sum() - special.log_expit(-constants).sum()
    return exactly(np.array([moved]), printed=bound.printed, name="largest exact move")


def lemma_3(subject: Subject, at: At) -> Bound:
    """[Zhang16] Lemma 3, for exponential nodes under Exp(c): they are concentrated from every L0 on.

    So the union bound needs no L >= L0, as the printed one does.
    """
    rates = np.full(len(subject.network.names), at.knobs.concentration)
    level, start = np.array([at.knobs.level]), at.knobs.start
    bound = lipschitz.lemma_3(rates, start=start, at=level)
    union = lipschitz.lemma_3(rates, start=min(start, at.knobs.level), at=level).certified
    return replace(bound, certified=union)


def mass_without(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the exact prior mass without constant L of independent exponential nodes: 1 - (1 - exp(-c L))^|I|."""
    one = math.exp(-at.knobs.concentration * at.knobs.level)
    mass = -math.expm1(len(subject.network.names) * math.log1p(-one)) if one < 1 else 1.0
    return exactly(np.array([mass]), printed=bound.printed, name="exact mass")


# The mode


def algorithm_3(subject: Subject, at: At) -> Bound:
    """[Zhang16] Algorithm 3, for its score, a density; certified is the exact largest move of one trimmed row's.

    Errors: InputError for more records than the core goes through.
    """
    bound, row = map.algorithm_3_sensitivity(at.knobs.log_ratio), _row_of_algorithm_3(subject, at)
    return flat(replace(bound, certified=np.asarray(row.density_sensitivity), unit="posterior density"))


def _row_of_algorithm_3(subject: Subject, at: At) -> map.TrimmedRow:
    if at.knobs.size > map.MOST_RECORDS:
        raise InputError(
            f"The score's sensitivity is sought among all tables of a row of at most {map.MOST_RECORDS:,} records; "
            f"{at.knobs.size:,} are too many."
        )
    omega = float(special.expit(-at.knobs.log_ratio))
    there = replace(at, knobs=replace(at.knobs, omega=omega))
    return trimmed_row(replace(subject, n=at.knobs.size), there)


def density_move(subject: Subject, at: At, bound: Bound) -> Measured:
    """Certified is exact here."""
    return exactly(bound.certified, printed=bound.printed, name="exact move of the density")


# Regression


def appendix_d(subject: Subject, at: At) -> Bound:
    """[Zhang16] Appendix D."""
    knobs = at.knobs
    return flat(
        regression.appendix_d(
            knobs.size,
            norm_bound=knobs.norm_bound,
            features=knobs.features,
            noise_variance=knobs.noise_variance,
            draws=at.draws,
        )
    )


def regression_loss(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the exact loss of a pair of tables under its worst prior; each of several draws loses as much."""
    loss = at.draws * formulas.worst_range(at, features=at.knobs.features)
    return exactly(loss, printed=bound.printed, name="exact loss of one pair")


def gradient_norm(subject: Subject, at: At) -> Bound:
    """[Zhang16] Appendix D, the norm of the gradient."""
    knobs = at.knobs
    return flat(
        regression.gradient_norm(knobs.norm_bound, features=knobs.features, noise_variance=knobs.noise_variance)
    )


def steepest(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the gradient at the record and the weights where it is longest."""
    found = regression.gradient([at.knobs.norm_bound], x=[-1.0], y=1.0, noise_variance=at.knobs.noise_variance)
    return exactly(np.array([np.linalg.norm(found)]), printed=bound.printed, name="largest exact norm")


def proportional(subject: Subject, at: At) -> Bound:
    """[Zhang16] Section 5.2."""
    return flat(regression.proportionality(at.knobs.norm_bound, noise_variance=at.knobs.noise_variance))


def planar_loss(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the exact loss of a pair of tables with two features under its worst prior."""
    return exactly(formulas.worst_range(at, features=2), printed=bound.printed, name="exact loss of one pair")


EXHIBITS: dict[str, Exhibit] = {
    "LEMMA_1": Exhibit(
        "Lemma 1: sensitivity of the counts",
        updates.LEMMA_1,
        Says.CERTAIN,
        lemma_1,
        largest_move,
        formulas.lemma_1,
        (Axis.RECORDS,),
        "lets one record move all counts together by {}",
        "L1 distance of the counts, records",
        (),
    ),
    "COROLLARY_1": Exhibit(
        "Corollary 1: privacy of noisy counts",
        updates.COROLLARY_1,
        Says.CERTAIN,
        corollary_1,
        laplace_loss,
        formulas.corollary_1,
        (Axis.EPSILON,),
        *LOSS_TEXT,
        ("epsilon",),
    ),
    "RERUNS": Exhibit(
        "Section 3.2: privacy of trying again",
        stealth.RERUNS,
        Says.CERTAIN,
        reruns,
        rerun_loss,
        formulas.reruns,
        (Axis.RUNS, Axis.EPSILON),
        *LOSS_TEXT,
        ("bounds.runs", "epsilon"),
    ),
    "LEMMA_2": Exhibit(
        "Lemma 2: smoothness of a network",
        lipschitz.LEMMA_2,
        Says.CERTAIN,
        lemma_2,
        log_likelihood_move,
        formulas.lemma_2,
        (Axis.LEVEL,),
        "lets one record move the log-likelihood by {} nats",
        "move of the log-likelihood, nats",
        ("bounds.level",),
        (lipschitz.counterexample_lemma_2,),
    ),
    "LEMMA_3": Exhibit(
        "Lemma 3: concentration of a network’s prior",
        lipschitz.LEMMA_3,
        Says.CHANCE,
        lemma_3,
        mass_without,
        formulas.lemma_3,
        (Axis.LEVEL,),
        "a prior mass of {}",
        "prior mass of the parameters without constant L",
        ("bounds.level", "bounds.concentration", "bounds.start"),
        (lipschitz.counterexample_appendix_b2,),
        defaults=(("level", 13.0),),
    ),
    "ALGORITHM_3": Exhibit(
        "Algorithm 3: sensitivity of the MAP’s score",
        map.ALGORITHM_3,
        Says.CERTAIN,
        algorithm_3,
        density_move,
        formulas.algorithm_3,
        (Axis.LOG_RATIO,),
        "lets one record move the score by {}",
        "move of the score, a posterior density",
        ("bounds.log_ratio", "bounds.size", "prior"),
        (map.counterexample_algorithm_3,),
        limit=_row_of_algorithm_3,
        gives=("bounds.size",),
    ),
    "APPENDIX_D": Exhibit(
        "Appendix D: privacy of a regression draw",
        regression.APPENDIX_D,
        Says.CERTAIN,
        appendix_d,
        regression_loss,
        formulas.appendix_d,
        (Axis.NORM_BOUND,),
        *LOSS_TEXT,
        ("bounds.norm_bound", "bounds.features", "bounds.noise_variance", "bounds.size", "draws"),
        (regression.counterexample_appendix_d,),
    ),
    "GRADIENT": Exhibit(
        "Appendix D: norm of the gradient",
        regression.NORM,
        Says.CERTAIN,
        gradient_norm,
        steepest,
        formulas.gradient_norm,
        (Axis.NORM_BOUND,),
        "lets the gradient have a norm of {}",
        "norm of the gradient, nats per unit of the record",
        ("bounds.norm_bound", "bounds.features", "bounds.noise_variance"),
        (regression.counterexample_norm, regression.counterexample_gradient),
    ),
    "PROPORTIONAL": Exhibit(
        "Section 5.2: loss in proportion to the norm bound",
        regression.PROPORTIONAL,
        Says.CERTAIN,
        proportional,
        planar_loss,
        formulas.proportional,
        (Axis.NORM_BOUND,),
        *LOSS_TEXT,
        ("bounds.norm_bound", "bounds.noise_variance"),
        (regression.counterexample_proportionality,),
    ),
}
"""What the page knows of them."""
