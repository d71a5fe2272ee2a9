"""Real releases from Python: ledger, save, load, verify, sign; as strict as the commands."""

import shlex
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpbayes as dp
from dpbayes.__main__ import main
from dpbayes.mechanisms import REGISTRY
from dpbayes.releases import ledger as books
from dpbayes.releases.real import request_for
from dpbayes.releases.signing import make_key
from dpbayes.sources.columns import Categories

RNG = np.random.default_rng(5)
SMOKER, AGE = RNG.random(2000) < 0.4, RNG.integers(20, 90, 2000)
FRAME = pd.DataFrame({"smoker": np.where(SMOKER, "yes", "no"), "age": AGE, "ill": (AGE > 60) | SMOKER})
DECLARED = {"smoker": ["no", "yes"], "age": dp.cuts(0, 30, 60, 120), "ill": [False, True]}
TABLE = dp.Table.from_frame(FRAME, DECLARED)
NETWORK = dp.network("smoker -> ill; age -> ill", dict(zip(TABLE.names, TABLE.states, strict=True)))
LAPLACE = dp.LaplaceUpdates(prior=NETWORK, epsilon=1)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return dp.open_ledger(tmp_path / "clinic.ledger", epsilon=2, reason="decided by the board")


def released(ledger: Path | None, **parameters: object) -> dp.RealRelease:
    return dp.release(TABLE, LAPLACE, graph_unseen=True, ledger=ledger, **parameters)


def test_a_release_is_charged_saved_loaded_verified_and_queried(ledger, tmp_path):
    release = released(ledger)
    assert books.read_books(ledger).account("table").left == 1
    file = release.save(tmp_path / "release.json")
    again = dp.load(file)
    assert again.document == release.document
    assert dp.verify(again).holds
    assert dp.verify(file).holds
    assert str(again.guarantee) == "ε = 1"
    answer = again.query("ill", smoker="yes")
    assert answer.question == "P(ill | smoker=yes)"
    assert repr(again.posterior.query("ill", smoker="yes", interval=0.95)) == repr(answer)
    drawn, simulated = (dp.plot.posteriors(one, "smoker=yes") for one in (again, again.tables))
    assert drawn.to_json() == simulated.to_json()
    truth = float((FRAME.ill & SMOKER).sum() / SMOKER.sum())
    assert answer.low[1] - 0.05 < truth < answer.high[1] + 0.05
    assert repr(again).startswith("Real release")
    frame = again.synthetic(10).to_frame()
    assert frame.columns.tolist() == ["smoker", "ill", "age"]
    assert set(frame["age"]) <= {"< 30", "30 to < 60", ">= 60"}
    typed = dp.load(file, dp.Table.from_frame(FRAME.head(0), DECLARED))
    assert typed.synthetic(10).to_frame().dtypes.to_dict() == FRAME.dtypes.to_dict()
    assert dp.load(file, TABLE).table.n == 0
    assert dp.load(file, DECLARED).synthetic(50).to_frame()["age"].between(0, 120).all()
    (tmp_path / "d.json").write_text(dp.write_domains(DECLARED))
    assert main(["view", str(file), "--out", f"{tmp_path}/x.csv", "--domains", f"{tmp_path}/d.json"]) == 0
    assert pd.read_csv(tmp_path / "x.csv")["age"].between(0, 120).all()
    with pytest.raises(dp.InputError, match="data frame"):
        dp.load(file, FRAME)


@pytest.mark.parametrize(("stated", "other"), [(b'"n":2000', b'"n":20'), (b'"epsilon":"1/1"', b'"epsilon":"1/9"')])
def test_only_verify_reads_a_release_that_was_changed(stated, other, ledger, tmp_path):
    file = released(ledger).save(tmp_path / "release.json")
    changed = file.read_bytes().replace(stated, other, 1)
    file.write_bytes(changed)
    failures = [check.sentence for check in dp.verify(file).checks if not check.holds]
    for door in (lambda: dp.load(file), lambda: dp.RealRelease(changed).query("ill", smoker="yes")):
        with pytest.raises(dp.InputError, match=f"The release does not verify: {failures[0]}"):
            door()


def test_the_same_request_costs_nothing_and_again_charges(ledger):
    first = released(ledger)
    assert released(ledger).document == first.document
    assert books.read_books(ledger).account("table").left == 1
    assert released(ledger, again=True).document != first.document
    assert books.read_books(ledger).account("table").left == 0
    with pytest.raises(dp.InputError, match="budget"):
        released(ledger, again=True)


@pytest.mark.parametrize(("epsilon", "delta", "left"), [(0.5, 0, "ε = 0.5 left"), (3, 1e-5, "at most ε = 0.68")])
def test_the_cures_of_a_small_budget_work_as_typed(epsilon, delta, left, tmp_path):
    ledger = dp.open_ledger(tmp_path / "clinic.ledger", epsilon=epsilon, delta=delta, reason="x")
    with pytest.raises(dp.InputError, match=left) as refusal:
        released(ledger)
    assert main(shlex.split(str(refusal.value).partition("dpbayes ")[2])) == 0
    released(ledger)
    with pytest.raises(dp.InputError, match=r"already open.*dpbayes ledger raise") as refusal:
        dp.open_ledger(ledger, epsilon=9, reason="x")
    assert main(shlex.split(str(refusal.value).partition("dpbayes ")[2])) == 0


def test_a_release_with_other_bins_is_charged_to_the_same_budget_with_a_warning(ledger):
    released(ledger)
    other = dp.Table.from_frame(FRAME, DECLARED | {"age": dp.cuts(0, 50, 120)})
    mechanism = dp.LaplaceUpdates(prior=dp.network("smoker -> ill; age -> ill", other), epsilon=1)
    with pytest.warns(dp.UnaccountedWarning, match='Other records were used before under the name "table"') as given:
        assert dp.verify(dp.release(other, mechanism, graph_unseen=True, ledger=ledger)).holds
    assert given[0].filename == __file__
    assert books.read_books(ledger).account("table").left == 0


def test_a_program_can_run_twice(ledger, tmp_path):
    for _ in range(2):
        assert dp.open_ledger(ledger, epsilon=2.0, reason="decided by the board") == ledger
        file = released(ledger).save(tmp_path / "release.json")
    assert books.read_books(ledger).account("table").left == 1
    assert "OpenDP: " in repr(dp.verify(file))


def test_no_ledger_is_opened_where_no_release_can_be_made(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.measurements", None)
    with pytest.raises(dp.InputError, match="needs opendp"):
        dp.open_ledger(tmp_path / "x.ledger", epsilon=1, reason="a test")
    assert not list(tmp_path.iterdir())


def test_what_reveals_records_is_refused_as_by_the_command(ledger):
    table = dp.Table.from_frame(FRAME, [Categories("smoker", ("no", "yes"))])
    mechanism, changed = (dp.LaplaceUpdates(prior=net, epsilon=1) for net in (dp.network("smoker"), NETWORK))
    vars(changed)["noise_scale"] = 1e-9
    for release, why in (
        (lambda: dp.release(table, mechanism, graph_unseen=True, ledger=ledger), "read from the records"),
        (lambda: dp.release_adaptive(table, epsilon=1, ledger=ledger), "read from the records"),
        (lambda: dp.release(TABLE, LAPLACE, graph_unseen=False, ledger=ledger), "graph_unseen=True"),
        (lambda: dp.release(TABLE, changed, graph_unseen=True, ledger=ledger), "that has a real release"),
    ):
        with pytest.raises(dp.InputError, match=why):
            release()
    assert books.read_books(ledger).account("table").left == 2


def test_an_existing_file_is_kept_unless_forced(ledger, tmp_path):
    file = tmp_path / "release.json"
    file.write_text("mine")
    with pytest.raises(dp.InputError, match="without again=True"):
        released(ledger).save(file)
    assert file.read_text() == "mine"
    assert dp.load(released(ledger).save(file, force=True)).document


def test_a_ledger_with_a_key_signs(ledger, tmp_path):
    """A release from before the key stays as it is, with a warning: the ledger contains no other document."""
    pytest.importorskip("cryptography")
    first = released(ledger)
    assert "The release is not signed" in repr(dp.verify(first))
    _, public = make_key(ledger, "Statistics office", reason="the first key")
    (tmp_path / "key.pem").write_bytes(public)
    with pytest.warns(UserWarning, match="not signed.*again=True"):
        assert released(ledger).document == first.document
    new = released(ledger, again=True)
    for key in (str(tmp_path / "key.pem"), tmp_path / "key.pem", public, public.decode()):
        assert dp.verify(new, key=key).holds
        assert not dp.verify(first, key).holds
    assert '"Statistics office" (key ' in repr(dp.verify(new))
    assert "with the given key." in repr(dp.verify(new, public))
    with pytest.raises(dp.InputError, match=r"nowhere.pem.*No such file"):
        dp.verify(new, "nowhere.pem")


def test_an_adaptive_release_is_charged_in_rho_and_returns_a_frame(tmp_path):
    path = dp.open_ledger(tmp_path / "rho.ledger", epsilon=2, delta=1e-5, reason="decided by the board")
    release = dp.release_adaptive(TABLE, epsilon=1, delta=1e-5, ledger=path)
    assert books.read_books(path).account("table").left < books.read_books(path).account("table").budget
    assert dp.verify(release).holds
    frame = release.synthetic(1000).to_frame()
    assert frame.dtypes.to_dict() == FRAME.dtypes.to_dict()
    assert release.query("ill").states == ("False", "True")


def test_the_document_states_what_a_missing_value_counts_as(ledger):
    assert released(ledger).read.request.missing == {"smoker": "no", "age": "< 30", "ill": "False"}


def test_samples_are_named_by_their_probabilities(ledger):
    release = released(ledger)
    samples = release.samples(400, seed=2)
    assert samples.shape == (400, NETWORK.cell_count)
    assert samples.columns[0] == "smoker=no"
    np.testing.assert_allclose(samples.mean(), release.posterior.mean, atol=0.05)


@pytest.mark.parametrize("entry", [entry for entry in REGISTRY if entry.exact_form], ids=lambda entry: entry.name)
def test_a_mechanism_becomes_the_request_that_the_command_makes(entry):
    binary = dp.chain(3)
    mechanism = entry.kind(prior=binary, epsilon=1.5)
    request = request_for(mechanism, "clinic", dp.sample_dataset(binary, np.full(binary.cell_count, 0.5), 100, 1))
    assert request.mechanism == entry.name
    assert request.network == binary
    np.testing.assert_allclose(request.dirichlets.alpha, mechanism.prior.alpha, rtol=0)
    stated = request.stated.epsilon if request.stated else request.cost
    assert stated == Fraction(3, 2)


@pytest.mark.parametrize("first", ["python", "command"])
def test_the_command_and_python_make_one_request(first, ledger, tmp_path):
    """The capped prior is 4/12 in each cell of "ill"."""
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "d.json").write_text(dp.write_domains(DECLARED))
    words = ["release", "--ledger", str(ledger), "--dataset", "table", "--data", f"{tmp_path}/t.csv", "--epsilon", "1"]
    words += ["--domains", f"{tmp_path}/d.json", "--network", "smoker -> ill; age -> ill", "--mechanism", "laplace"]
    words += ["--graph-unseen", "--force", "--out", f"{tmp_path}/c.json"]
    if first == "command":
        main(words)
    release = released(ledger)
    main(words)
    assert (tmp_path / "c.json").read_bytes() == release.document
    assert books.read_books(ledger).account("table").left == 1
    assert repr(1 / 3) in release.read.request.prior


def test_a_mechanism_is_released_with_its_own_noise():
    with warnings.catch_warnings(action="ignore"):
        release = dp.release(TABLE, dp.GaussianUpdates(prior=NETWORK, epsilon=1, delta=1e-6), graph_unseen=True)
    assert (release.guarantee.epsilon, release.guarantee.delta) == (pytest.approx(1, rel=1e-3), pytest.approx(1e-6))
    assert dp.verify(release).holds


@pytest.mark.filterwarnings("ignore::dpbayes.releases.real.UnaccountedWarning")
@pytest.mark.parametrize("ledgered", [True, False])
@pytest.mark.parametrize("least", [0, 0.5], ids=["counts", "posterior"])
def test_the_counts_of_the_table_are_in_no_prior_of_its_release(ledger, ledgered, least):
    """A release publishes its prior, and the exact posterior contains the counts."""
    counts = dp.count(NETWORK, TABLE).values
    own = dp.Dirichlets(NETWORK, np.maximum(counts + least, 0.5))
    mechanism = dp.LaplaceUpdates(prior=own, epsilon=1)
    with pytest.raises(dp.InputError, match="from before the records"):
        dp.release(TABLE, mechanism, graph_unseen=True, ledger=ledger if ledgered else None)
    assert books.read_books(ledger).account("table").spent == 0


@pytest.mark.parametrize("n", [10, 50])
@pytest.mark.parametrize(
    "prior",
    [dp.Dirichlets.capped(NETWORK), dp.Dirichlets.bdeu(NETWORK, 500), dp.Dirichlets.symmetric(NETWORK, 100)],
    ids=["capped", "bdeu", "symmetric"],
)
def test_the_usual_priors_are_released_also_where_they_exceed_the_counts(prior, n, ledger):
    mechanism = dp.LaplaceUpdates(prior=prior, epsilon=1)
    assert dp.release(TABLE.take(slice(n)), mechanism, graph_unseen=True, ledger=ledger).read.request.n == n


def test_a_prior_of_few_records_is_released(ledger):
    few = TABLE.take(slice(19))
    mechanism = dp.LaplaceUpdates(prior=dp.Dirichlets(NETWORK, np.arange(20.0, 20 + NETWORK.cell_count)), epsilon=1)
    assert dp.release(few, mechanism, graph_unseen=True, ledger=ledger).read.request.n == 19
