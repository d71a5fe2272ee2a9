"""What every mechanism must do: the shape of the protocol, and nothing of the data in a release."""

import inspect
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from scipy import stats

from dpbayes.audit.registry import audit
from dpbayes.base.looks import BOUND, FREE
from dpbayes.base.parameters import Choice, Parameter, parameters_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.validation import InputError
from dpbayes.experiments.die import DieMethod
from dpbayes.mechanisms import (
    MECHANISMS,
    OF_RECORDS,
    Calibration,
    LaplaceUpdates,
    Mechanism,
    Noise,
    PosteriorSampler,
    ReleasedPosterior,
)
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.model.dataset import Counts, Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from tests.contract.variants import build, every_mechanism, rng, typical_settings
from tests.strategies import ASIA, chain, random_table

# The common shape


@every_mechanism
def test_a_mechanism_is_a_frozen_value_with_everything_the_protocol_asks_for(kind, settings):
    mechanism = build(kind, settings)
    assert is_dataclass(kind)
    assert kind.__dataclass_params__.frozen
    assert isinstance(kind.label, str)
    assert kind.label
    for method in ("statistic", "simulate"):
        wanted = inspect.signature(getattr(Mechanism, method))
        assert list(inspect.signature(getattr(kind, method)).parameters) == list(wanted.parameters)
    assert isinstance(mechanism.claimed, Guarantee)
    assert isinstance(mechanism.certified, Guarantee)
    assert isinstance(mechanism.statistic(random_table(ASIA, rng(), 5)), Counts)


def test_labels_are_distinct():
    every = (*MECHANISMS, *OF_RECORDS)
    assert len({kind.label for kind in every}) == len(every)


def test_no_two_mechanisms_have_one_colour_on_a_network_in_a_regression_or_of_a_die() -> None:
    """Laplace noise on every count is that of a network, of a die too; grey is what is not private."""
    of_dice = {method: method.look.colour for method in DieMethod if method.look.colour != BOUND}
    kinds = {kind: kind.colour for kind in (*MECHANISMS, *OF_RECORDS, RegressionSampler)}
    assert of_dice.pop(DieMethod.CELLS) == LaplaceUpdates.colour
    others = of_dice.values()
    assert len({*kinds.values(), *others}) == len(kinds) + len(others), "a new mechanism takes a colour of FREE"
    assert len(FREE) > 0
    assert not {*kinds.values(), *others} & set(FREE), "a colour that is taken gets a name and leaves FREE"


@pytest.mark.parametrize("kind", MECHANISMS)
def test_all_parameters_but_the_prior_are_described_and_typical_values_are_in_range(kind):
    described = parameters_of(kind)
    undescribed = {field.name for field in fields(kind)} - set(described)
    assert undescribed == {"prior", "weights", "prices"} & {field.name for field in fields(kind)}
    for name, note in described.items():
        if isinstance(note, Parameter):
            assert note.checked(name, note.typical) == note.typical
            assert note.symbol
            assert note.description
        else:
            assert isinstance(note, Choice)


def bad_values(note: Parameter | Choice) -> list[object]:
    """What is no value of a parameter: below, above, not a number, and for whole ones between two."""
    if isinstance(note, Choice):
        return [note.options, None, 0, next(iter(note.options)).value]
    between = [note.low + 0.5] if note.whole else []
    return [note.low - 1e-9, 2 * note.high, -1, math.inf, math.nan, "much", "", None, True, [1], *between]


@pytest.mark.parametrize("kind", MECHANISMS)
def test_a_bad_value_of_a_parameter_is_refused_in_one_sentence_that_names_it(kind):
    settings = typical_settings(kind)[0]
    for name, note in parameters_of(kind).items():
        for bad in bad_values(note):
            with pytest.raises(InputError, match=rf"{name} must be") as caught:
                build(kind, settings | {name: bad})
            assert str(caught.value).endswith("."), (name, bad)


@every_mechanism
def test_counts_of_another_network_are_refused_even_with_as_many_cells(kind, settings):
    """Four binary nodes change eight cells, two nodes of four states only four: the noise would be half of it."""
    other = build(kind, settings, Network.from_edges("ab", []))
    counts = other.statistic(random_table(Network.from_edges("ab", []), rng(), 5))
    with pytest.raises(InputError, match="different networks"):
        build(kind, settings, Network.from_edges("xy", [])).simulate(counts, rng())


@every_mechanism
@pytest.mark.parametrize("batch", [(2,), (1,), (3, 4)])
def test_a_batch_of_priors_is_no_prior(kind, settings, batch):
    many = Dirichlets(ASIA, np.ones((*batch, ASIA.cell_count)))
    with pytest.raises(InputError, match="prior must be one network"):
        kind(prior=many, **settings)


@every_mechanism
@pytest.mark.parametrize("value", [5e-301, 1.1e9])
def test_a_prior_that_no_audit_could_judge_is_refused_where_the_mechanism_is_made(kind, settings, value):
    alpha = np.ones(ASIA.cell_count)
    alpha[5] = value
    with pytest.raises(InputError, match="prior must be between 10⁻³⁰⁰ and 1,000,000,000"):
        kind(prior=Dirichlets(ASIA, alpha), **settings)


@every_mechanism
@pytest.mark.parametrize("prior", [None, 1.0, np.ones(ASIA.cell_count), ASIA.graph])
def test_what_is_no_prior_is_refused_in_a_sentence(kind, settings, prior):
    with pytest.raises(InputError, match="prior must be one network"):
        kind(prior=prior, **settings)


@every_mechanism
def test_a_network_in_the_place_of_a_prior_is_its_capped_prior_or_that_of_the_mechanism(kind, settings):
    mechanism = kind(prior=ASIA, **settings)
    assert isinstance(mechanism.prior, Dirichlets)
    assert mechanism.prior.network == ASIA
    usual = np.repeat([1, 1, 1, 1, 1, 0.5, 1, 0.5], [2, 4, 2, 4, 4, 8, 4, 8])  # two of eight nodes are wide
    expected = np.ones(ASIA.cell_count) if hasattr(kind, "own_prior") else usual
    assert np.array_equal(mechanism.prior.alpha, expected)
    assert np.array_equal(replace(mechanism).prior.alpha, expected)


def test_a_prior_cannot_be_left_out():
    with pytest.raises(InputError, match=r"prior.*Write LaplaceUpdates\(prior=\.\.\.,"):
        LaplaceUpdates(epsilon=1)


@every_mechanism
def test_a_release_gives_its_posterior_or_says_that_it_has_none(kind, settings):
    mechanism = kind(prior=ASIA, **settings)
    release = mechanism.simulate(mechanism.statistic(random_table(ASIA, rng(), 5)), rng(), (3,))
    if isinstance(release.outcome, ReleasedPosterior):
        assert np.array_equal(release.posterior.mean, release.outcome.probabilities)
    else:
        with pytest.raises(InputError, match="contains probabilities, not a posterior"):
            _ = release.posterior


@every_mechanism
@pytest.mark.parametrize("value", [1e-300, 1e-12, 1e9])
def test_a_mechanism_releases_and_is_audited_at_the_ends_of_its_priors(kind, settings, value):
    """What can be released can be audited, and loses no more than is certified."""
    mechanism = kind(prior=Dirichlets(chain(2), np.full(6, value)), **settings)
    release = mechanism.simulate(mechanism.statistic(random_table(chain(2), rng(), 5)), rng(), (3,))
    assert np.all(np.isfinite(release.outcome.probabilities))
    report = audit(mechanism, n=5, epsilons=[0.0, 0.5, 1.0])
    assert 0 <= report.needed_at_least <= report.needed <= mechanism.certified.epsilon * (1 + 1e-9)


@every_mechanism
def test_the_statistic_is_deterministic_and_ignores_the_order_of_records(kind, settings):
    mechanism, data = build(kind, settings), random_table(ASIA, rng(), 40)
    once, again = (mechanism.statistic(table).values for table in (data, data.take(slice(None, None, -1))))
    assert np.array_equal(once, again)


@every_mechanism
def test_the_same_generator_state_gives_the_same_release_and_another_does_not(kind, settings):
    mechanism = build(kind, settings)
    statistic = mechanism.statistic(random_table(ASIA, rng(), 40))
    one, same, other = (
        mechanism.simulate(statistic, np.random.default_rng(seed)).outcome.probabilities for seed in (1, 1, 2)
    )
    assert np.array_equal(one, same)
    assert np.array_equal(one, other) is (not mechanism.certified.is_private)


@every_mechanism
def test_released_probabilities_are_distributions_in_every_row(kind, settings):
    mechanism = build(kind, settings)
    outcome = mechanism.simulate(mechanism.statistic(random_table(ASIA, rng(), 40)), rng(), (3,)).outcome
    assert outcome.probabilities.shape == (3, ASIA.cell_count)
    assert np.all(outcome.probabilities > 0)
    assert ASIA.row_sums(outcome.probabilities) == pytest.approx(np.ones((3, ASIA.row_count)))


@every_mechanism
def test_a_part_of_a_batch_is_one_of_its_releases(kind, settings):
    mechanism = build(kind, settings)
    batch = mechanism.simulate(mechanism.statistic(random_table(ASIA, rng(), 40)), rng(), (3,))
    assert np.array_equal(batch.part(1).outcome.probabilities, batch.outcome.probabilities[1])
    assert np.array_equal(batch.part(slice(2)).outcome.probabilities, batch.outcome.probabilities[:2])
    assert batch.part(1).guarantee == batch.guarantee


@every_mechanism
def test_the_size_of_a_release_comes_before_the_batch_of_counts(kind, settings):
    mechanism = build(kind, settings)
    counts = mechanism.statistic(random_table(ASIA, rng(), 40))
    outcome = mechanism.simulate(Counts(ASIA, np.stack([counts.values] * 2), counts.n), rng(), (3,)).outcome
    assert outcome.probabilities.shape == (3, 2, ASIA.cell_count)
    assert outcome.numbers.shape[:2] == (3, 2)


@every_mechanism
def test_the_release_leaves_the_statistic_as_it_was(kind, settings):
    mechanism = build(kind, settings)
    statistic = mechanism.statistic(random_table(ASIA, rng(), 40))
    before = statistic.values.copy()
    mechanism.simulate(statistic, rng(), (2,))
    assert np.array_equal(statistic.values, before)


@every_mechanism
def test_a_release_carries_the_certified_promise_and_its_mechanisms_label(kind, settings):
    mechanism = build(kind, settings)
    release = mechanism.simulate(mechanism.statistic(random_table(ASIA, rng(), 40)), rng())
    assert release.guarantee == mechanism.certified
    assert release.mechanism == kind.label


@every_mechanism
def test_what_is_certified_is_never_more_than_claimed_unless_the_claim_is_refuted(kind, settings):
    mechanism = build(kind, settings)
    refuted = kind is PosteriorSampler and mechanism.calibration is Calibration.AS_PRINTED
    assert (mechanism.certified.epsilon <= mechanism.claimed.epsilon) is not refuted
    assert mechanism.certified.delta <= mechanism.claimed.delta
    assert mechanism.certified.neighbours == mechanism.claimed.neighbours


# The release holds no data


def everything_in(value: object) -> Iterator[object]:
    """Yield `value` and all that can be reached from it: fields, cached values, items; networks are public."""
    yield value
    if isinstance(value, Network):
        return
    if isinstance(value, Mapping):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        inner = list(value)
    else:
        inner = list(vars(value).values()) if type(value).__module__.startswith("dpbayes") else []
    for part in inner:
        yield from everything_in(part)


def chance_hits(mechanism, cells: int) -> int:
    """Most cells that hold their own count by chance: none under real noise; more of them once in 10^9 under whole."""
    if getattr(mechanism, "noise", Noise.REAL) is Noise.REAL:
        return 0
    scale = getattr(mechanism, "noise_scale", 1.0)  # of rebuilt tables, few cells are whole numbers at all
    return int(stats.binom.isf(1e-9, cells, math.tanh(0.5 / scale)))


@every_mechanism
def test_a_release_holds_no_table_no_counts_and_no_source_of_randomness(kind, settings):
    mechanism = build(kind, settings)
    statistic = mechanism.statistic(random_table(ASIA, rng(), 4_000))
    release = mechanism.simulate(statistic, rng())
    _ = release.outcome.probabilities  # fills the cached values too
    parts = list(everything_in(release))
    assert not [p for p in parts if isinstance(p, Dataset | Counts | np.random.Generator | np.random.BitGenerator)]
    arrays = [p for p in parts if isinstance(p, np.ndarray)]
    reached = 3 if isinstance(release.outcome, ReleasedPosterior) else 1
    assert len(arrays) >= reached, "the walk has reached the prior, the updates and the posterior, or the draws"
    inside = (statistic.values > 0) & (statistic.values < statistic.n)  # elsewhere clipping may return the count
    exact = [1 + statistic.values, statistic.values, Dirichlets(ASIA, 1.0 + statistic.values).mean]
    hits = [np.sum((a == e)[..., inside], axis=-1).max() for a in arrays for e in exact if a.shape[-1:] == e.shape]
    is_revealed = int(max(hits)) > chance_hits(mechanism, int(inside.sum()))
    assert is_revealed is (not mechanism.certified.is_private)
