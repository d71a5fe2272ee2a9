"""The document holds what was drawn and what it promises, and nothing else of the table."""

import json
import math
import re
import traceback
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version

import numpy as np
import pytest

from dpbayes.base.amounts import amount_text, rho_of
from dpbayes.base.text import numeral_above
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import RELEASABLE
from dpbayes.mechanisms.exact_form import ExactNoise
from dpbayes.model.dataset import Counts
from dpbayes.model.fourier import coefficients
from dpbayes.model.network import Network
from dpbayes.releases.document import read_document
from dpbayes.releases.document.canonical import canonical
from dpbayes.releases.document.document import (
    DECLARED,
    NEVER_COVERED,
    Composed,
    Provenance,
    certificate_of,
    sentences_of,
)
from dpbayes.releases.document.sampled import SampledTables
from dpbayes.releases.publishing import drawn_document
from dpbayes.releases.verify import verify
from tests.releases.asking import (
    BEFORE,
    BEFORE_IN_RHO,
    TIME,
    N,
    before,
    counted,
    drawn,
    no_noise,
    replace_draw,
    request_of,
    usual_loss,
)
from tests.strategies import ASIA, V_STRUCTURE

GAUSSIAN = request_of(mechanism="gaussian", rho=Fraction(1, 100))

IMPLIED = Fraction(3, 10) + rho_of(Fraction(1, 2))
"""A rho of 0.3, and the rho that a pure epsilon of 0.5 implies."""


@pytest.mark.parametrize("mechanism", RELEASABLE)
def test_a_document_is_read_as_it_was_written(mechanism):
    request = request_of(mechanism=mechanism)
    document = read_document(drawn(request))
    assert document.request == request
    assert len(document.sampled.integers) == request.entry.length(request)
    assert document.composed == before(request)
    assert document.drawn.time == "2026-03-31T12:00:00Z"
    assert document.content["integers"] == list(document.sampled.integers)


# What a recipient makes of it


@pytest.fixture
def without_noise(monkeypatch):
    """Noise that is none, to see what becomes of the integers."""
    replace_draw(monkeypatch, no_noise)


def test_the_posterior_of_counts_is_clipped_and_added_to_the_prior(without_noise):
    request, counts = request_of(prior=("0.5",)), counted()
    document = read_document(drawn(request, counts))
    assert document.sampled.integers == tuple(counts.values.tolist())
    np.testing.assert_array_equal(document.tables.posterior.alpha, 0.5 + counts.values)
    spoiled = canonical(dict(document.content) | {"integers": [-5, 10**6, *document.sampled.integers[2:]]})
    np.testing.assert_array_equal(read_document(spoiled).tables.posterior.alpha[:2], [0.5, 0.5 + N])


def test_the_posterior_of_coefficients_has_their_tables_and_the_lift(without_noise):
    request, counts = request_of(mechanism="fourier", settings={"t": "0"}), counted()
    document = read_document(drawn(request, counts))
    assert document.sampled.integers == tuple(coefficients(ASIA, counts.values)[1:].tolist())
    np.testing.assert_allclose(document.tables.posterior.alpha, 1 + counts.values, atol=1e-9)
    lifted = request_of(mechanism="fourier", settings={"t": "0.5"})
    alpha = read_document(drawn(lifted, counts)).tables.posterior.alpha
    np.testing.assert_allclose(ASIA.row_sums(alpha)[0] - 2 - N, lifted.entry.simulated(lifted).lift)


def test_consistent_counts_are_fitted_to_the_integers_that_leave(without_noise):
    """Without noise the fit changes nothing; with numbers that disagree, tables agree and the integers stay."""
    request, counts = request_of(mechanism="consistent"), counted()
    document = read_document(drawn(request, counts))
    assert document.sampled.integers == tuple(counts.values.tolist())
    np.testing.assert_allclose(document.tables.posterior.alpha, 1 + counts.values, atol=1e-9)
    integers = [-5, *document.sampled.integers[1:]]
    outcome = read_document(canonical(dict(document.content) | {"integers": integers})).tables.outcome
    assert outcome.noisy.tolist() == integers
    np.testing.assert_allclose(ASIA.residuals.consistent(outcome.updates, float(N)), outcome.updates, atol=1e-9)
    assert outcome.updates[0] > -5


def test_a_map_estimate_has_probabilities_and_no_posterior():
    document = read_document(drawn(request_of(mechanism="map", settings={"cells": "4"})))
    release = document.tables
    assert set(document.sampled.integers) <= {0, 1, 2, 3}
    np.testing.assert_allclose(ASIA.row_sums(release.outcome.probabilities), 1)
    assert release.guarantee.epsilon == 0.5
    with pytest.raises(InputError, match="not a posterior"):
        _ = release.posterior


def test_too_few_integers_make_no_release():
    document = read_document(canonical(dict(read_document(drawn(request_of())).content) | {"integers": [1]}))
    with pytest.raises(InputError, match="has 1 integers; its network needs 36"):
        _ = document.tables


# Drawing


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
        drawn_document(request_of(), spoil(counted()), BEFORE)


def test_nothing_is_drawn_where_opendp_does_not_confirm(monkeypatch):
    monkeypatch.setattr(ExactNoise, "answer", lambda law, sensitivity, scale: 1.0)
    replace_draw(monkeypatch, lambda *_: pytest.fail("it was drawn"))
    with pytest.raises(InputError, match="no noise was sampled"):
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
        content = json.loads(drawn_document(request, table, before(request), drawn=Provenance.at(TIME)))
        public = {key: value for key, value in content.items() if key not in ("integers", "hash")}
        texts.append(canonical(public))
    assert texts[0] == texts[1]
    assert not digits_of(texts[0].decode()) & secrets_of(counts)


def digits_of(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


def secrets_of(counts: Counts) -> set[str]:
    return {str(value) for value in counts.values.tolist()}


@pytest.mark.parametrize("spoil", [lambda v: v + 1, lambda v: -v, lambda v: v[None], lambda v: v.astype(float)])
def test_no_error_tells_a_count(spoil):
    network, counts = canary_table()
    request = request_of(network, n=counts.n)
    for n in (counts.n, 99_999_999):
        with pytest.raises(InputError) as refusal:
            drawn_document(request, Counts(network, spoil(counts.values), n), BEFORE, drawn=Provenance.at(TIME))
        said = "".join(traceback.format_exception(refusal.value)) + repr(refusal.value)
        assert not (secrets_of(counts) | {"99999999", "99,999,999"}) & digits_of(said)


# The certificate


def said(request, composed=BEFORE):
    sampled = SampledTables(request, request.calibrated, ())
    facts = Provenance("2026-03-31T12:00:00Z", "0.1.0", "0.16.0", "3.11.7")
    return certificate_of(sampled, composed, facts), sentences_of(sampled, composed)


LOSS = 0.01 + 2 * math.sqrt(0.01 * math.log(1e6))
"""What a rho of 0.01 exceeds once in a million at most."""


@pytest.mark.parametrize(
    ("request_", "composed", "stated", "total", "factor"),
    [
        (request_of(), BEFORE, {"epsilon": "1/2", "delta": "0/1"}, "epsilon 0.8", "1.65."),
        (request_of(), BEFORE_IN_RHO, {"epsilon": "1/2", "delta": "0/1"}, f"rho {amount_text(IMPLIED)}", "1.65."),
        (GAUSSIAN, BEFORE_IN_RHO, {"rho": "1/100"}, "rho 0.31", f"{numeral_above(math.exp(LOSS))}, except in one"),
        (request_of(epsilon=Fraction(1000)), Composed(), {"epsilon": "1000/1", "delta": "0/1"}, "epsilon 1000", ""),
        (replace(GAUSSIAN, rho=Fraction(100)), BEFORE_IN_RHO, {"rho": "100/1"}, "rho 100.3", ""),
    ],
)
def test_the_certificate_states_the_guarantee_the_sum_and_what_a_reader_can_learn(
    request_, composed, stated, total, factor
):
    certificate, sentences = said(request_, composed)
    assert {name: certificate[name] for name in ("epsilon", "delta", "rho") if name in certificate} == stated
    assert certificate["composed"] == sentences[2]
    place = f"release {composed.releases + 1}" if composed.releases else "the first release"
    assert sentences[2].startswith(f"This is {place} of this dataset")
    assert f"spent {total}." in sentences[2]
    assert (f"factor of at most {factor}" if factor else "next to nothing") in sentences[1]
    assert len(sentences) == 4


@pytest.mark.parametrize("mechanism", RELEASABLE)
def test_the_document_states_what_missing_values_count_as(mechanism):
    network = request_of(mechanism=mechanism).network
    missing = {name: states[-1] for name, states in zip(network.names, network.states, strict=True)}
    data = drawn(request_of(mechanism=mechanism, missing=missing))
    document = read_document(data)
    assert document.request.missing == missing
    assert document.request != request_of(mechanism=mechanism)
    assert "state that the request states for its column" in document.content["certificate"]["missing_values"]
    assert verify(data).holds


def test_the_certificate_names_what_the_guarantee_does_not_cover():
    certificate, _ = said(request_of())
    priced, _ = said(request_of(mechanism="residuals"), BEFORE_IN_RHO)
    assert certificate["not_covered"][-len(NEVER_COVERED) :] == list(NEVER_COVERED)
    for word in ("graph", "choice of epsilon", DECLARED, f"{N:,}", "prior"):
        assert any(word in sentence for sentence in certificate["not_covered"]), word
    for stated, has_prices in ((certificate, False), (priced, True)):
        assert any("prices" in sentence for sentence in stated["not_covered"]) is has_prices


def test_the_document_states_what_the_curator_has_looked_at():
    request = request_of()
    data = drawn_document(request, counted(), BEFORE, Provenance.at(TIME, "exact posteriors"))
    document = read_document(data)
    assert any("curator looked at exact posteriors." in text for text in document.content["certificate"]["not_covered"])
    assert verify(data).holds
    assert not verify(data.replace(b"exact posteriors", b"nothing whatever")).holds
    assert "looked" not in read_document(drawn(request)).content["drawn"]


def test_a_rho_is_not_added_to_pure_epsilons():
    with pytest.raises(InputError, match="a dataset with a budget in rho"):
        said(request_of(mechanism="gaussian"), BEFORE)


@pytest.mark.parametrize("composed", [(1, Fraction(0)), (0, Fraction(1)), (-1, Fraction(1)), (1, 0.5)])
def test_what_was_composed_is_exact_and_agrees_with_itself(composed):
    with pytest.raises(InputError):
        Composed(*composed)


def test_a_time_has_its_zone_and_a_package_its_version():
    assert (Provenance.at(TIME).time, Provenance.at(TIME).opendp) == ("2026-03-31T12:00:00Z", version("opendp"))
    with pytest.raises(InputError, match="time zone"):
        Provenance.at(TIME.replace(tzinfo=None))


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
        ({"certificate": []}, "wrong type"),
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
        ({"network": [{"name": "a", "states": ["x", "y"], "parents": ["a"]}]}, "close a cycle"),
        ({"network": []}, "no nodes"),
        ({"mechanism": "sampler"}, "choose one of: " + ", ".join(RELEASABLE)),
        ({"settings": {"t": ["1"]}}, "no setting"),
        ({"epsilon": "1/3"}, "places"),
        ({"epsilon": "5/10"}, "lowest terms"),
        ({"epsilon": "10000/1"}, "between"),
        ({"prior": ["1.0"]}, "not in canonical form"),
        ({"network": [{"name": "a" * 201, "states": ["x", "y"], "parents": []}]}, "200 letters"),
        ({"network": [{"name": "a", "states": ["x", "y" * 201], "parents": []}]}, "200 letters"),
        ({"network": [{"name": f"{k}", "states": ["x", "y"], "parents": []} for k in range(2001)]}, "2,001 is not"),
        ({"dataset": "d" * 3000}, "3,000 letters"),
        ({"n": 10**18}, "records"),
        ({"missing": {}}, "not in canonical form"),
        ({"missing": {"z": "yes"}}, '"z" cannot count'),
        ({"missing": {"rain": 1}}, '"rain" cannot count'),
    ],
)
def test_a_request_that_cannot_be_is_refused_when_it_is_read(changes, said):
    request = dict(read_document(drawn(request_of())).content["request"]) | changes
    with pytest.raises(InputError, match=said) as refusal:
        read_document(spoiled(request=request))
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("scale", ["0/1", "1/3", "1/" + "9" * 59])
def test_a_scale_is_a_double_above_nothing(scale):
    changed = dict(read_document(drawn(request_of())).content["noise"]) | {"scale": scale}
    with pytest.raises(InputError, match="scale"):
        read_document(spoiled(noise=changed))


# What is known of the noise


@pytest.mark.parametrize("mechanism", [name for name in RELEASABLE if name != "map"])
def test_an_opened_release_tells_its_noise_as_the_simulated_mechanism_does(mechanism):
    request = request_of(mechanism=mechanism)
    release = read_document(drawn(request)).tables
    simulated = request.entry.simulated(request).noise_model
    assert release.tells_noise
    np.testing.assert_array_equal(release.outcome.noise_model.variances, simulated.variances)
    assert (release.outcome.noise_model.scale, release.outcome.noise_model.sd) == (simulated.scale, simulated.sd)
    aware = release.noise_aware(points=64)
    np.testing.assert_allclose(ASIA.row_sums(aware.mean), 1)
    assert not np.allclose(aware.mean, release.posterior.mean)
