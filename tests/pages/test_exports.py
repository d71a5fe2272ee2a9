"""What a person takes away is safe to open and holds nothing that it should not."""

import csv
import io
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.randomness import stream
from dpbayes.base.spreadsheet import safe_csv
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler, Release
from dpbayes.model.counts import count
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.ui.pages.explore import files
from dpbayes.ui.pages.explore.files import release_json
from tests.strategies import ASIA


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", "=cmd|' /C calc'!A0"])
def test_a_text_cannot_run_as_a_formula(text: str) -> None:
    written = safe_csv(pd.DataFrame({text: [text, "plain", f"a,{text}"]})).decode()
    rows = list(csv.reader(io.StringIO(written, newline="")))
    assert len(rows) == 4
    assert rows[0][0].startswith("'")
    assert rows[1][0].startswith("'")
    assert rows[2] == ["plain"]


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1))
def test_no_cell_starts_like_a_formula_and_every_line_is_a_record(texts: list[str]) -> None:
    written = safe_csv(pd.DataFrame({"a": texts, "b": range(len(texts))})).decode()
    assert "\r" not in written
    rows = list(csv.reader(io.StringIO(written, newline="")))[1:]
    assert len(rows) == len(texts)
    assert all(not row[0].strip().startswith(("=", "+", "-", "@")) for row in rows)


def test_numbers_stay_numbers() -> None:
    assert safe_csv(pd.DataFrame({"x": [-1.5, 2.0]})) == b"x\n-1.5\n2.0\n"


def released(mechanism: type[LaplaceUpdates] | type[LaplaceFourier], n: int) -> tuple[Release, np.ndarray]:
    network, cpts = load_named("asia")
    data = sample_dataset(network, cpts, n, stream(1, "records"))
    counts = count(network, data)
    prior = Dirichlets.symmetric(network, 1.0)
    return mechanism(prior=prior, epsilon=1.0).release(counts, stream(987_654_321, "x")), counts.values


def test_a_release_that_is_no_posterior_holds_its_draws_or_its_estimate() -> None:
    network, cpts = load_named("asia")
    counts = count(network, sample_dataset(network, cpts, 100, stream(1, "records")))
    prior = Dirichlets.symmetric(network)
    sampled = PosteriorSampler(prior=prior, epsilon=9.0, draws=3).release(counts, stream(2))
    estimate = MapExponential(prior=prior, epsilon=9.0).release(counts, stream(2))
    for release, name, values in (
        (sampled, "draws", sampled.outcome.draws),
        (estimate, "probabilities", estimate.outcome.probabilities),
    ):
        rows = strict(release_json(release, network))["rows"]
        assert set(rows[0]) == {"row", name}
        assert "noise" not in strict(release_json(release, network))
        np.testing.assert_array_equal(np.concatenate([row[name] for row in rows], axis=-1), values)


def test_a_release_of_a_wide_network_holds_the_same_without_line_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    network, cpts = load_named("child")
    counts = count(network, sample_dataset(network, cpts, 100, stream(1, "records")))
    release = LaplaceUpdates(prior=Dirichlets.symmetric(network), epsilon=1.0).release(counts, stream(2))
    read = release_json(release, network)
    monkeypatch.setattr(files, "_MOST_READ", 0)
    short = release_json(release, network)
    assert b"\n" in read
    assert b"\n" not in short
    assert strict(short) == strict(read)
    alpha = release.outcome.posterior.alpha
    assert [row["posterior"] for row in strict(short)["rows"]] == [
        alpha[network.cells_of_row(row)].tolist() for row in range(network.row_count)
    ]


def strict(text: bytes) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text.decode(), parse_constant=refuse)


def numbers_in(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for inner in value.values() for number in numbers_in(inner)]
    if isinstance(value, list):
        return [number for inner in value for number in numbers_in(inner)]
    return [value] if isinstance(value, int | float) else []


@pytest.mark.parametrize("mechanism", [LaplaceUpdates, LaplaceFourier])
@pytest.mark.parametrize("n", [0, 1, 1000])
def test_a_release_file_is_strict_json_and_says_what_it_is(
    mechanism: type[LaplaceUpdates] | type[LaplaceFourier], n: int
) -> None:
    release, _ = released(mechanism, n)
    content = strict(release_json(release, release.outcome.prior.network))
    assert "demonstration only" in content["kind"]
    assert content["guarantee"]["epsilon"] == 1.0
    assert len(content["rows"]) == 18
    posterior = np.concatenate([row["posterior"] for row in content["rows"]])
    np.testing.assert_allclose(posterior, release.outcome.posterior.alpha)
    assert set(content) == {"kind", "mechanism", "guarantee", "public", "noise", "network", "rows"}
    aware = release.noise_aware()
    np.testing.assert_array_equal(np.concatenate([row["mean"] for row in content["rows"]]), aware.mean)
    ends = np.concatenate([row["95% interval"] for row in content["rows"]], axis=-1)
    np.testing.assert_array_equal(ends, aware.interval(0.95))
    noise = content["noise"]
    if mechanism is LaplaceUpdates:
        assert noise == {
            "law": "independent Laplace noise in every cell",
            "scale": 16.0,
            "standard deviation": pytest.approx(16 * np.sqrt(2)),
        }
    else:
        assert noise["least standard deviation of a cell"] < noise["largest standard deviation of a cell"]
        assert "scale" not in noise
        assert content["public"]["noise scale"] > 0


def test_a_large_release_is_written_without_conclusions(monkeypatch: pytest.MonkeyPatch) -> None:
    release, _ = released(LaplaceUpdates, 10)
    monkeypatch.setattr(files, "_MOST_CONCLUDED", ASIA.cell_count - 1)
    content = strict(release_json(release, ASIA))
    assert set(content["rows"][0]) == {"row", "prior", "posterior"}
    assert content["noise"]["scale"] == 16.0


@pytest.mark.parametrize("mechanism", [LaplaceUpdates, LaplaceFourier])
def test_a_release_file_holds_no_seed_and_no_exact_count(
    mechanism: type[LaplaceUpdates] | type[LaplaceFourier],
) -> None:
    release, exact = released(mechanism, 1000)
    text = release_json(release, release.outcome.prior.network)
    assert b"seed" not in text.replace(b"seeded noise", b"")
    assert b"987654321" not in text
    posterior = np.concatenate([row["posterior"] for row in strict(text)["rows"]])
    inside = (exact > 60) & (exact < 940)  # cells that no clipping brings to a round number
    assert inside.any()
    true = release.outcome.prior.updated(exact).mean[inside]
    concluded = [values for row in strict(text)["rows"] for name in ("mean", "95% interval") for values in [row[name]]]
    assert len(concluded) == 36
    assert not set(true) & set(numbers_in(concluded))
    assert not set(exact[inside].astype(float)) & set(numbers_in(strict(text)["noise"]))
    assert not set(1.0 + exact[inside]) & set(posterior)
    assert not set(exact[inside].astype(float)) & set(numbers_in(strict(text)["public"]))
