"""What is chosen is resolved once in a run, and handed on."""

import dataclasses
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

import dpbayes.ui.pages
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates
from dpbayes.mechanisms.base import Prior
from dpbayes.mechanisms.fourier import INCREMENT
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.sources.named_networks import load_named
from dpbayes.ui.session import chosen as module
from dpbayes.ui.session import uploads
from dpbayes.ui.session.chosen import USUAL_RECORDS, Chosen
from dpbayes.ui.session.settings import Cpts, Settings

PAGES = Path(dpbayes.ui.pages.__file__).parent


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for patched in (module, uploads):
        monkeypatch.setattr(patched.st, "session_state", state)
    return state


def test_each_value_is_resolved_once_whatever_the_session_keeps(
    monkeypatch: pytest.MonkeyPatch, session: dict[str, Any]
) -> None:
    calls: Counter[str] = Counter()

    def counted(name: str, do: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            calls[name] += 1
            return do(*args, **more)

        return call

    for name in ("sample_dataset", "graph_of", "network_of", "count"):
        monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    chosen = Chosen(Settings(records=50))
    for _ in range(3):
        assert chosen.counts.n == chosen.dataset.n == 50
        assert chosen.mechanism.prior is chosen.prior
        assert chosen.prior.network is chosen.network
        session.clear()
    # Of the graph two networks are made: the one that records are drawn from, and the one that is fitted.
    assert calls == {"sample_dataset": 1, "graph_of": 2, "network_of": 2, "count": 1}


def test_what_the_session_does_not_have_is_refused_where_it_is_first_used() -> None:
    chosen = Chosen(Settings(data="upload"))
    assert chosen.n is None
    assert chosen.domains == {}
    assert chosen.is_curator
    for _ in range(2):
        with pytest.raises(InputError, match="uploads never leave their session"):
            len(chosen.dataset.names)


def test_a_mechanism_has_the_parameters_that_are_chosen_else_those_that_suit_the_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "stealth_increment", lambda *_: 0.25)
    settings = Settings().with_parameter("epsilon", 2.0)
    for chosen, t in ((Chosen(settings), 0.25), (Chosen(settings.with_parameter("t", 0.75)), 0.75)):
        fourier = chosen.mechanism_called("LaplaceFourier")
        assert isinstance(fourier, LaplaceFourier)
        assert (fourier.epsilon, fourier.t) == (2.0, t)
        assert isinstance(chosen.mechanism, LaplaceUpdates)


def test_a_mechanism_is_made_once_of_what_is_chosen_and_keeps_the_noise_it_has_searched() -> None:
    chosen = Chosen(Settings(mechanism="GaussianResiduals"))
    assert chosen.mechanism_called("GaussianResiduals") is chosen.mechanism
    assert chosen.mechanism_called("GaussianUpdates") is chosen.mechanism_called("GaussianUpdates")
    assert Chosen(chosen.settings).mechanism is not chosen.mechanism


def test_parts_of_a_page_take_what_is_chosen_and_do_not_ask_the_session() -> None:
    assert not [path.name for path in PAGES.glob("[!h]*.py") if "current()" in path.read_text(encoding="utf-8")]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tempered:
    """A mechanism with a parameter that happens to be called t."""

    prior: Prior = Prior()
    epsilon: Annotated[float, EPSILON]
    t: Annotated[float, INCREMENT]


def test_a_default_is_found_for_a_mechanism_that_says_it_has_an_increment_and_not_for_the_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "stealth_increment", lambda *given: 0.25)
    chosen = Chosen(Settings(source="chain:2", records=20))
    assert chosen.defaults_for(Tempered) == {}
    assert chosen.defaults_for(LaplaceFourier) == {"t": 0.25}


def test_a_synthetic_table_is_the_same_object_in_all_sessions(session: dict[str, Any]) -> None:
    first = Chosen(Settings(records=50)).dataset
    session.clear()
    assert Chosen(Settings(records=50)).dataset is first
    assert Chosen(Settings(records=50, data_seed=9)).dataset is not first
    given = Settings(records=50, cpts=Cpts.GIVEN)
    assert not Chosen(given).has_public_records


def test_planned_tables_are_of_public_probabilities_and_as_many_records_as_the_table() -> None:
    planned = Chosen(Settings(records=50)).planned_tables
    assert (planned.n, planned.seed) == (50, 1)
    np.testing.assert_array_equal(planned.probabilities, load_named("asia")[1])
    other = Chosen(Settings(data="upload", graph="bayes:3")).planned_tables
    assert (other.n, len(other.network.names)) == (USUAL_RECORDS, 4)
