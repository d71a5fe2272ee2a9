"""The document holds what was drawn and what it promises, and nothing else of the table."""

import gc
import json
import math
import re
import sys
import traceback
from fractions import Fraction

import numpy as np
import pytest

from dpbayes.base.amounts import amount_text, rho_of
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import RELEASABLE
from dpbayes.mechanisms.noise.exact import ExactNoise
from dpbayes.model.counts import Counts
from dpbayes.model.fourier import coefficients
from dpbayes.model.network import Network
from dpbayes.releases.document.canonical import canonical
from dpbayes.releases.document.certificate import Composed, Provenance, certificate_of, sentences_of, time_text
from dpbayes.releases.document.release import read_document, release_of
from dpbayes.releases.document.request import request_from
from dpbayes.releases.publishing import drawing
from tests.releases.asking import (
    BEFORE,
    BEFORE_IN_RHO,
    TIME,
    N,
    before,
    counted,
    draw_document,
    drawn,
    no_noise,
    replace_draw,
    request_of,
    usual_loss,
)
from tests.strategies import ASIA, V_STRUCTURE


@pytest.mark.parametrize("mechanism", RELEASABLE)
def test_a_document_is_read_as_it_was_written(mechanism):
    request = request_of(mechanism=mechanism)
    document = read_document(drawn(request))
    assert document.request == request
    assert len(document.integers) == request.entry.length(request)
    assert document.composed == before(request)
    assert document.drawn.time == "2026-03-31T12:00:00Z"
    assert document.content["integers"] == list(document.integers)


# What a recipient makes of it


@pytest.fixture
def without_noise(monkeypatch):
    """Noise that is none, to see what becomes of the integers."""
    replace_draw(monkeypatch, no_noise)


def test_the_posterior_of_counts_is_clipped_and_added_to_the_prior(without_noise):
    request, counts = request_of(prior=("0.5",)), counted()
    document = read_document(drawn(request, counts))
    assert document.integers == tuple(counts.values.tolist())
    np.testing.assert_array_equal(release_of(document).posterior.alpha, 0.5 + counts.values)
    spoiled = canonical(dict(document.content) | {"integers": [-5, 10**6, *document.integers[2:]]})
    np.testing.assert_array_equal(release_of(read_document(spoiled)).posterior.alpha[:2], [0.5, 0.5 + N])


def test_the_posterior_of_coefficients_has_their_tables_and_the_lift(without_noise):
    request, counts = request_of(mechanism="fourier", settings={"t": "0"}), counted()
    document = read_document(drawn(request, counts))
    assert document.integers == tuple(coefficients(ASIA, counts.values)[1:].tolist())
    np.testing.assert_allclose(release_of(document).posterior.alpha, 1 + counts.values, atol=1e-9)
    lifted = request_of(mechanism="fourier", settings={"t": "0.5"})
    alpha = release_of(read_document(drawn(lifted, counts))).posterior.alpha
    np.testing.assert_allclose(ASIA.row_sums(alpha)[0] - 2 - N, lifted.entry.simulated(lifted).lift)


def test_consistent_counts_are_fitted_to_the_integers_that_leave(without_noise):
    """Without noise the fit changes nothing; with numbers that disagree, tables agree and the integers stay."""
    request, counts = request_of(mechanism="consistent"), counted()
    document = read_document(drawn(request, counts))
    assert document.integers == tuple(counts.values.tolist())
    np.testing.assert_allclose(release_of(document).posterior.alpha, 1 + counts.values, atol=1e-9)
    integers = [-5, *document.integers[1:]]
    outcome = release_of(read_document(canonical(dict(document.content) | {"integers": integers}))).outcome
    assert outcome.noisy.tolist() == integers
    np.testing.assert_allclose(ASIA.residuals.consistent(outcome.updates, float(N)), outcome.updates, atol=1e-9)
    assert outcome.updates[0] > -5


def test_a_map_estimate_has_probabilities_and_no_posterior():
    document = read_document(drawn(request_of(mechanism="map", settings={"cells": "4"})))
    release = release_of(document)
    assert set(document.integers) <= {0, 1, 2, 3}
    np.testing.assert_allclose(ASIA.row_sums(release.outcome.probabilities), 1)
    assert release.guarantee.epsilon == 0.5
    with pytest.raises(InputError, match="not a posterior"):
        _ = release.posterior


def test_too_few_integers_make_no_release():
    document = read_document(canonical(dict(read_document(drawn(request_of())).content) | {"integers": [1]}))
    with pytest.raises(InputError, match="has 1 integers; its network needs 36"):
        release_of(document)


# Drawing


def test_steps_yield_shares_alone():
    work, steps = drawing(request_of(), counted(), BEFORE, TIME), []

    def kept():
        steps.append((yield from work))

    shares = list(kept())
    assert shares == [1.0]
    assert isinstance(steps[0], bytes)


def test_two_draws_differ_in_their_integers_alone():
    first, second = (read_document(drawn(request_of(epsilon=Fraction(1, 100)))) for _ in range(2))
    differing = {name for name in first.content if first.content[name] != second.content[name]}
    assert differing == {"integers", "hash"}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda c: Counts(V_STRUCTURE, np.zeros(12, dtype=np.int64), N), "different networks"),
        (lambda c: Counts(c.network, c.values, N + 1), "number of records"),
        (lambda c: Counts(c.network, c.values + 1, N), "number of records"),
        (lambda c: Counts(c.network, c.values[None], N), "one table"),
    ],
)
def test_counts_that_are_not_the_requests_are_not_drawn_from(monkeypatch, spoil, said):
    replace_draw(monkeypatch, lambda *_: pytest.fail("it was drawn"))
    with pytest.raises(InputError, match=said):
        draw_document(request_of(), spoil(counted()), BEFORE, TIME)


def test_nothing_is_drawn_where_opendp_does_not_confirm(monkeypatch):
    monkeypatch.setattr(ExactNoise, "answer", lambda law, sensitivity, scale: 1.0)
    replace_draw(monkeypatch, lambda *_: pytest.fail("it was drawn"))
    with pytest.raises(InputError, match="no noise was sampled"):
        drawn(request_of())


def test_a_release_needs_opendp(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.measurements", None)
    with pytest.raises(InputError, match="pip install"):
        drawn(request_of())


# Nothing of the table


def canary_table() -> tuple[Network, Counts]:
    """A table whose rarest record and whose counts are told from all other text."""
    states = {"canaryCity": ["canaryNowhere", "canaryElsewhere"], "canaryIllness": ["canaryRare", "canaryCommon"]}
    network = Network.from_edges(list(states), [("canaryCity", "canaryIllness")], states)
    values = np.array([61_803_398, 38_196_602, 27_182_818, 34_620_580, 31_415_926, 6_780_676])
    return network, Counts(network, values, 100_000_000)


@pytest.mark.parametrize("mechanism", RELEASABLE)
def test_nothing_computed_from_the_table_but_noisy_integers_leaves(mechanism):
    """With the integers taken out, the documents of two tables are the same bytes; no count stands in either."""
    network, counts = canary_table()
    request = request_of(network, mechanism=mechanism, n=counts.n, **usual_loss(mechanism, Fraction(1, 1000)))
    other = Counts(network, np.array([100_000_000, 0, 0, 100_000_000, 0, 0]), counts.n)
    texts = []
    for table in (counts, other):
        content = json.loads(draw_document(request, table, before(request), TIME))
        public = {key: value for key, value in content.items() if key not in ("integers", "hash")}
        texts.append(canonical(public))
    assert texts[0] == texts[1]
    assert not digits_of(texts[0].decode()) & secrets_of(counts)


def digits_of(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


def secrets_of(counts: Counts) -> set[str]:
    return {str(value) for value in counts.values.tolist()}


@pytest.mark.parametrize("mechanism", RELEASABLE)
def test_no_count_is_within_reach_of_a_release(monkeypatch, mechanism):
    """With a noise that is fixed, so that chance cannot bring a count back: neither bytes nor objects show one.

    The noisy tables agree on what they share, so that fitting them takes no noise away.
    """
    shifts = (7, -7, 3, 4, -5, -2)

    def shifted(values, scale):
        yield 1.0
        return tuple(value + shift for value, shift in zip(values.tolist(), shifts[: len(values)], strict=True))

    def shifted_by_more(values, scales):
        # A cell is a quarter of a sum of such numbers.
        yield 1.0
        return tuple(value + 40 * shift for value, shift in zip(values.tolist(), shifts[: len(values)], strict=True))

    replace_draw(monkeypatch, shifted, own=shifted_by_more)
    network, counts = canary_table()
    data = drawn(request_of(network, mechanism=mechanism, n=counts.n), counts)
    document = read_document(data)
    release = release_of(document)
    reached = (document, document.request, vars(document.request), release, vars(release.outcome), release.public)
    with np.printoptions(threshold=sys.maxsize, suppress=True, precision=17):
        assert not digits_of(repr(reached) + data.decode()) & secrets_of(counts)


def test_a_count_in_a_document_would_be_seen(without_noise):
    """What the test above looks for is there when the noise is not."""
    network, counts = canary_table()
    data = draw_document(request_of(network, n=counts.n), counts, BEFORE, TIME)
    assert secrets_of(counts) <= digits_of(data.decode())
    with np.printoptions(suppress=True):
        assert secrets_of(counts) <= digits_of(repr(vars(release_of(read_document(data)).outcome)))


def test_the_counts_live_no_longer_than_the_draw():
    network, counts = canary_table()
    request = request_of(network, mechanism="laplace", n=counts.n)
    size = len(gc.get_referrers(counts.values))
    data = draw_document(request, counts, BEFORE, TIME)
    gc.collect()
    assert data
    assert len(gc.get_referrers(counts.values)) == size
    assert not {"values", "counts"} & set(vars(request))


@pytest.mark.parametrize("spoil", [lambda v: v + 1, lambda v: -v, lambda v: v[None], lambda v: v.astype(float)])
def test_no_error_tells_a_count(spoil):
    network, counts = canary_table()
    request = request_of(network, n=counts.n)
    for n in (counts.n, 99_999_999):
        with pytest.raises(InputError) as refusal:
            draw_document(request, Counts(network, spoil(counts.values), n), BEFORE, TIME)
        said = "".join(traceback.format_exception(refusal.value)) + repr(refusal.value)
        assert not (secrets_of(counts) | {"99999999", "99,999,999"}) & digits_of(said)


# The certificate


def said(request, composed=BEFORE):
    calibration = request.calibrated
    facts = Provenance("2026-03-31T12:00:00Z", "0.1.0", "0.16.0", "3.11.7")
    return certificate_of(request, calibration, composed, facts), sentences_of(request, calibration, composed)


def test_the_certificate_states_what_a_promise_must():
    certificate, sentences = said(request_of())
    assert certificate["epsilon"] == "1/2"
    assert certificate["delta"] == "0/1"
    assert "Replace one" in certificate["neighbours"]
    assert "2 releases before this one, of epsilon 0.3 together; with this one it is 0.8" in certificate["composed"]
    assert "OpenDP 0.16.0" in certificate["drawn"]
    assert '"contrib"' in certificate["drawn"]
    for word in ("graph", "states", "number of records", "How long", "floating point", "published of the same"):
        assert any(word in sentence for sentence in certificate["not_covered"]), word
    assert len(sentences) == 4
    assert all(sentence.endswith(".") for sentence in sentences)
    assert "factor of at most 1.65" in sentences[1]
    assert "3 releases of this dataset, this one included, have spent epsilon 0.8" in sentences[2]


@pytest.mark.parametrize("mechanism", ["residuals"])
def test_the_certificate_says_that_prices_are_public_and_whose_word_that_is(mechanism):
    certificate, _ = said(request_of(mechanism=mechanism), BEFORE_IN_RHO)
    assert any("so are the prior and the prices" in sentence for sentence in certificate["not_covered"])
    assert "over" in certificate["noise"]
    assert not any("prices" in sentence for sentence in said(request_of())[0]["not_covered"])


def test_the_certificate_of_a_rho_states_it_and_what_follows():
    certificate, sentences = said(request_of(mechanism="gaussian", rho=Fraction(1, 100)), BEFORE_IN_RHO)
    assert certificate["rho"] == "1/100"
    assert not {"epsilon", "delta"} & set(certificate)
    assert "divergence of every order alpha above 1 is at most 0.01 alpha" in certificate["promise"]
    assert "2 releases before this one, of rho 0.3 together; with this one it is 0.31" in certificate["composed"]
    loss = 0.01 + 2 * math.sqrt(0.01 * math.log(1e6))
    assert f"factor of at most {math.exp(loss):.3g}, but for one release in a million" in sentences[1]
    assert "have spent rho 0.31" in sentences[2]


def test_a_pure_release_of_a_budget_in_rho_adds_the_rho_that_it_implies():
    certificate, sentences = said(request_of(), BEFORE_IN_RHO)
    together = Fraction(3, 10) + rho_of(Fraction(1, 2))
    assert certificate["epsilon"] == "1/2"
    assert f"with this one it is {amount_text(together)}, the exact sum, to which pure" in certificate["composed"]
    assert f"have spent rho {amount_text(together)}" in sentences[2]
    assert "factor of at most 1.65." in sentences[1]


def test_a_rho_is_not_added_to_pure_epsilons():
    with pytest.raises(InputError, match="a dataset with a budget in rho"):
        said(request_of(mechanism="gaussian"), BEFORE)


def test_a_weak_rho_is_said_to_be_one():
    _, sentences = said(request_of(mechanism="gaussian", rho=Fraction(100)), BEFORE_IN_RHO)
    assert "hides next to nothing" in sentences[1]


def test_a_weak_promise_is_said_to_be_one():
    _, sentences = said(request_of(epsilon=Fraction(1000)), Composed())
    assert "hides next to nothing" in sentences[1]
    assert sentences[2].startswith("1 release of this dataset")


@pytest.mark.parametrize("composed", [(1, Fraction(0)), (0, Fraction(1)), (-1, Fraction(1)), (1, 0.5)])
def test_what_was_composed_is_exact_and_agrees_with_itself(composed):
    with pytest.raises(InputError):
        Composed(*composed)


def test_a_time_has_its_zone():
    assert time_text(TIME) == "2026-03-31T12:00:00Z"
    with pytest.raises(InputError, match="time zone"):
        time_text(TIME.replace(tzinfo=None))


# Reading


def spoiled(**changes):
    return canonical(dict(read_document(drawn(request_of())).content) | changes)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"[]", "not a release"),
        (b'{"format":"dpbayes release"}', "version"),
        (canonical({"format": "dpbayes release", "version": 3}), 'version "3"; this program reads version 1'),
        (canonical({"format": "dpbayes release", "version": True}), "version"),
        (canonical({"format": "dpbayes release", "version": 1}), "exactly these fields"),
    ],
)
def test_what_is_no_release_of_this_version_is_refused(data, said):
    with pytest.raises(InputError, match=said):
        read_document(data)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"integers": [True]}, "wrong type"),
        ({"integers": ["1"]}, "wrong type"),
        ({"integers": 1}, "must be a list"),
        ({"more": 1}, "exactly these fields"),
        ({"certificate": []}, "must be an object"),
        ({"composed": {"releases": 0, "epsilon": "1/2"}}, "all earlier releases"),
        ({"drawn": {"time": "2026-02-30T12:00:00Z", "dpbayes": "", "opendp": "", "python": ""}}, "time"),
    ],
)
def test_fields_of_another_type_are_refused(changes, said):
    with pytest.raises(InputError, match=said):
        read_document(spoiled(**changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"network": [{"name": "a", "states": ["x", "y"], "parents": ["a"]}]}, "own parent"),
        ({"network": []}, "no nodes"),
        ({"mechanism": "sampler"}, "choose one of: " + ", ".join(RELEASABLE)),
        ({"settings": {"t": ["1"]}}, "no setting"),
        ({"epsilon": "1/3"}, "places"),
        ({"epsilon": "5/10"}, "lowest terms"),
        ({"epsilon": "10000/1"}, "between"),
        ({"prior": ["1.0"]}, "not in canonical form"),
        ({"domains": "by magic"}, '"by magic" is not a valid statement'),
        ({"domains": "x" * 1000}, "x…"),
        ({"network": [{"name": "a" * 201, "states": ["x", "y"], "parents": []}]}, "200 letters"),
        ({"network": [{"name": "a", "states": ["x", "y" * 201], "parents": []}]}, "200 letters"),
        ({"network": [{"name": f"{k}", "states": ["x", "y"], "parents": []} for k in range(2001)]}, "2,001 nodes"),
        ({"dataset": "d" * 3000}, "3,000 letters"),
        ({"n": 10**18}, "records"),
    ],
)
def test_a_request_that_cannot_be_is_refused_when_it_is_read(changes, said):
    request = dict(read_document(drawn(request_of())).content["request"]) | changes
    with pytest.raises(InputError, match=said) as refusal:
        read_document(spoiled(request=request))
    assert len(str(refusal.value)) < 300


def test_nodes_are_numbered_before_a_network_is_made_of_them(monkeypatch):
    monkeypatch.setattr("dpbayes.releases.document.request.Network", lambda *_: pytest.fail("a network was made"))
    nodes = [{"name": f"{k}", "states": ["x", "y"], "parents": []} for k in range(2001)]
    content = request_of().content | {"network": nodes}
    with pytest.raises(InputError, match="2,001 nodes"):
        request_from(content)


@pytest.mark.parametrize("scale", ["0/1", "1/3", "1/" + "9" * 59])
def test_a_scale_is_a_double_above_nothing(scale):
    changed = dict(read_document(drawn(request_of())).content["noise"]) | {"scale": scale}
    with pytest.raises(InputError, match="scale"):
        read_document(spoiled(noise=changed))


# What is known of the noise


@pytest.mark.parametrize("mechanism", [name for name in RELEASABLE if name != "map"])
def test_an_opened_release_tells_its_noise_as_the_simulated_mechanism_does(mechanism):
    request = request_of(mechanism=mechanism)
    release = release_of(read_document(drawn(request)))
    simulated = request.entry.simulated(request).noise_model
    assert release.tells_noise
    np.testing.assert_array_equal(release.outcome.noise_model.variances, simulated.variances)
    assert (release.outcome.noise_model.scale, release.outcome.noise_model.sd) == (simulated.scale, simulated.sd)
    aware = release.noise_aware(points=64)
    np.testing.assert_allclose(ASIA.row_sums(aware.mean), 1)
    assert not np.allclose(aware.mean, release.posterior.mean)


def test_at_a_large_epsilon_it_is_read_as_the_exact_counts_are():
    request, counts = request_of(epsilon=Fraction(1000)), counted()
    aware = release_of(read_document(drawn(request, counts))).noise_aware(points=64)
    np.testing.assert_allclose(aware.mean, request.dirichlets.updated(counts).mean, atol=1e-3)


def test_an_opened_estimate_tells_no_noise():
    release = release_of(read_document(drawn(request_of(mechanism="map", settings={"cells": "4"}))))
    assert not release.tells_noise
    with pytest.raises(InputError, match="does not state which noise was added"):
        release.noise_aware()


def test_nodes_of_one_state_are_known_for_certain():
    network = Network.from_edges(["a", "b"], [("a", "b")], {"a": ("only",), "b": ("no", "yes")})
    release = release_of(read_document(drawn(request_of(network))))
    assert release.noise_aware(points=64).mean[0] == 1.0
