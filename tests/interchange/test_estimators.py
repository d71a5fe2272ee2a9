"""The classifiers for scikit-learn: its own checks, what they learn, and what they state of privacy."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpbayes as dp
from dpbayes.releases.verify import verify

pytestmark = [pytest.mark.interchange, pytest.mark.filterwarnings("default")]

RNG = np.random.default_rng(1)
N = 4000
Y = RNG.integers(0, 3, N)
X = RNG.normal(size=(N, 3)) + np.column_stack([Y, -Y, np.zeros(N)]) * 2
PUBLIC = {"bounds": (-6.0, 6.0), "bins": 8, "classes": [0, 1, 2]}


def models() -> list[Any]:
    from dpbayes.estimators import DPBayesNetClassifier, DPNaiveBayes

    return [
        DPNaiveBayes(),
        DPNaiveBayes(delta=1e-5),
        DPBayesNetClassifier(delta=1e-5),
        DPBayesNetClassifier(graph=[]),
    ]


NAMES = ("naive Bayes", "naive Bayes, Gaussian", "adaptive", "given")


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_the_checks_of_scikit_learn_pass(place: int) -> None:
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(models()[place], on_fail=None)
    failed = [(result["check_name"], result["exception"]) for result in results if result["status"] == "failed"]
    assert not failed
    assert sum(result["status"] == "passed" for result in results) > 40


def fitted(place: int, **parameters: Any) -> Any:
    model = models()[place].set_params(**(PUBLIC | {"epsilon": 4} | parameters))
    if NAMES[place] == "given":
        model.set_params(graph=[("class", "x0"), ("class", "x1")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model.fit(X, Y)


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
@pytest.mark.parametrize("seed", [None, 1])
def test_a_release_classifies_and_states_its_guarantee(place: int, seed: int | None) -> None:
    model = fitted(place, random_state=seed)
    assert model.score(X, Y) > 0.85
    assert (model.guarantee_.epsilon, model.guarantee_.delta) == (4, models()[place].delta)
    assert model.is_simulated_ is (seed is not None)
    np.testing.assert_allclose(model.predict_proba(X[:9]).sum(axis=1), 1)
    if seed is None and NAMES[place] != "adaptive":
        assert verify(model.document_).holds
    else:
        assert model.document_ is None


def test_the_class_is_the_target_of_an_adaptive_release(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpbayes import estimators

    plans: list[Any] = []
    drawn = estimators.drawn_release
    monkeypatch.setattr(estimators, "drawn_release", lambda plan, *rest: plans.append(plan) or drawn(plan, *rest))
    fitted(NAMES.index("adaptive"), random_state=1, target="ill")
    assert [plan.target for plan in plans] == ["ill"]


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_class_probabilities_are_those_of_a_query(place: int) -> None:
    model = fitted(place, random_state=2)
    network = model.network_
    states = dict(zip(network.names, network.states, strict=True))
    for k in range(5):
        record = {f"x{j}": states[f"x{j}"][np.searchsorted(model.edges_[j], X[k, j], side="right")] for j in range(3)}
        expected = dp.query(network, model.probabilities_, "class", record)
        np.testing.assert_allclose(model.predict_proba(X[k : k + 1])[0], expected, rtol=1e-9)


@pytest.mark.parametrize(("left_out", "word"), [("bounds", "bounds"), ("classes", "classes")])
def test_what_is_read_from_the_records_is_warned_of_and_leaves_no_guarantee(left_out: str, word: str) -> None:
    from dpbayes.estimators import DPNaiveBayes, PrivacyLeakWarning

    model = DPNaiveBayes(**(PUBLIC | {left_out: None}), random_state=1)
    with pytest.warns(PrivacyLeakWarning, match=f"{word} were read from the records"):
        model.fit(X, Y)
    assert not model.guarantee_.is_private


def test_no_document_states_that_domains_read_from_the_records_are_public() -> None:
    from sklearn.model_selection import cross_val_predict

    from dpbayes.estimators import DPNaiveBayes, PrivacyLeakWarning

    with pytest.warns(PrivacyLeakWarning) as given:
        cross_val_predict(DPNaiveBayes(**(PUBLIC | {"bounds": None})), X, Y)
    assert {one.filename for one in given} == {__file__}
    with pytest.warns(PrivacyLeakWarning):
        assert DPNaiveBayes(**(PUBLIC | {"bounds": None})).fit(X, Y).document_ is None
    assert DPNaiveBayes(**PUBLIC).fit(X, Y).document_ is not None


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "1"}, "quotation marks"),
        ({"columns": {"x0": "no"}, "bounds": None}, "list of its values"),
        ({"columns": {"x0": ["no", "yes"]}}, "columns or bounds"),
        ({"columns": "nowhere.toml", "bounds": None}, "nowhere.toml"),
        ({"delta": 2}, "delta"),
        ({"bounds": (1, 1)}, "lower bound"),
        ({"bounds": (0, np.inf)}, "finite"),
        ({"bounds": (1,)}, "bounds must be a pair"),
        ({"bounds": "ab"}, "bounds must be a pair"),
        ({"bounds": ([0, 0], [1, 1])}, "bounds must be a pair"),
        ({"bounds": (-1e308, 1.7e308)}, "finite"),
        ({"bins": 0}, "number of bins"),
        ({"bins": None}, "number of bins"),
        ({"bins": 2.5}, "number of bins"),
        ({"bins": [3, 3]}, "3 features and 2 numbers of bins"),
        ({"classes": [0, 1]}, "not one of classes"),
        ({"prior": 0}, "prior"),
    ],
)
def test_a_parameter_out_of_range_is_refused(parameters: dict[str, Any], sentence: str) -> None:
    from dpbayes.estimators import DPNaiveBayes

    with pytest.raises(dp.InputError, match=sentence):
        DPNaiveBayes(**(PUBLIC | {"random_state": 1} | parameters)).fit(X, Y)


def test_a_graph_may_be_a_text() -> None:
    pairs, text = (fitted(3, random_state=1).set_params(graph=graph) for graph in ([("class", "x0")], "class -> x0"))
    assert pairs.fit(X, Y).network_ == text.fit(X, Y).network_


def test_texts_without_declarations_name_the_cure() -> None:
    from dpbayes.estimators import DPNaiveBayes

    frame = pd.DataFrame({"smoker": ["no", "yes"]})
    with pytest.raises(dp.InputError, match="columns="):
        DPNaiveBayes(epsilon=1).fit(frame, [0, 1])
    with pytest.raises(dp.InputError, match='contain the class, "smoker"'):
        DPNaiveBayes(epsilon=1, columns={"smoker": ["no", "yes"]}).fit(frame, frame["smoker"])
    with pytest.raises(dp.InputError, match="set_output"):
        DPNaiveBayes(columns={"smoker": ["no", "yes"]}, classes=[0, 1]).fit(frame.to_numpy(), [0, 1])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("classes", [None, ["no", "yes"]])
@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_a_missing_class_is_refused_in_one_sentence(missing: object, classes: object, kind: str) -> None:
    from dpbayes.estimators import DPBayesNetClassifier

    y = pd.Series(["no", "yes", missing, "no"], dtype=kind)
    columns = {"a": ["no", "yes"]}
    for x, extra in (([[1], [2], [3], [4]], {}), (pd.DataFrame({"a": ["no"] * 4}), {"columns": columns})):
        with pytest.raises(dp.InputError, match="y has a missing value in record 3") as refusal:
            DPBayesNetClassifier(classes=classes, bounds=(0, 5), **extra).fit(x, y)
        assert "\n" not in str(refusal.value)


def test_a_graph_with_another_class_names_the_target() -> None:
    from dpbayes.estimators import DPBayesNetClassifier

    for graph in ("x0 -> ill", [("x0", "ill")]):
        with pytest.raises(dp.InputError, match='target="ill"'):
            DPBayesNetClassifier(**(PUBLIC | {"random_state": 1, "graph": graph})).fit(X, Y)


@pytest.mark.parametrize("graph", ["ab", 5, [("x0", "x1", "class")], ["x0"]])
def test_what_is_no_list_of_arrows_is_refused(graph: object) -> None:
    from dpbayes.estimators import DPBayesNetClassifier

    with pytest.raises(dp.InputError, match=r"arrows|neither a feature nor the class"):
        DPBayesNetClassifier(**(PUBLIC | {"random_state": 1, "graph": graph})).fit(X, Y)


def test_whole_numbers_from_0_have_a_bin_each() -> None:
    from dpbayes.estimators import DPNaiveBayes

    codes = RNG.integers(0, 4, (500, 2))
    model = DPNaiveBayes(bounds=(0, 3), bins=4, classes=[0, 1], random_state=1).fit(codes, codes[:, 0] > 1)
    assert [np.searchsorted(model.edges_[0], k, side="right") for k in range(4)] == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["DPNaiveBayes", "DPBayesNetClassifier"])
def test_the_example_of_a_docstring_runs(name: str) -> None:
    import inspect
    from doctest import DocTestParser, DocTestRunner

    from dpbayes import estimators

    value = getattr(estimators, name)
    text = inspect.getdoc(value) or ""
    example = DocTestParser().get_doctest(text, {"np": np, name: value}, name, None, None)
    failures: list[str] = []
    outcome = DocTestRunner().run(example, out=failures.append)
    assert outcome.attempted
    assert not outcome.failed, "".join(failures)
    described = text.partition("Args:")[2].partition("\n\n")[0]
    assert set(inspect.signature(value).parameters) == {
        line.split(":")[0].strip() for line in described.splitlines() if line.startswith("    ") and line[4] != " "
    }


CLINIC = {"smoker": ["no", "yes"], "age": dp.cuts(0, 40, 60, 120), "ward": ["A", "B", None]}


def clinic(n: int) -> tuple[pd.DataFrame, list[str]]:
    rng = np.random.default_rng(3)
    smoker, age = rng.random(n) < 0.4, rng.integers(20, 90, n)
    ill = rng.random(n) < 0.1 + 0.4 * smoker + 0.4 * (age >= 60)
    ward = np.where(rng.random(n) < 0.1, None, np.where(ill, "A", "B"))
    frame = pd.DataFrame({"smoker": np.where(smoker, "yes", "no"), "age": age, "ward": ward})
    return frame, np.where(ill, "ill", "well").tolist()


@pytest.mark.parametrize("kind", ["naive Bayes", "adaptive"])
def test_texts_are_features_and_classes(kind: str, tmp_path: Path) -> None:
    from dpbayes.estimators import DPBayesNetClassifier, DPNaiveBayes

    (frame, ill), file = clinic(4000), tmp_path / "clinic.json"
    file.write_text(dp.write_domains(CLINIC))
    columns = CLINIC if kind == "adaptive" else str(file)
    public: dict[str, Any] = {"epsilon": 4, "columns": columns, "classes": ["ill", "well"]}
    model = (DPNaiveBayes if kind == "naive Bayes" else DPBayesNetClassifier)(**public)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(frame, ill)
    assert model.score(frame, ill) > 0.8
    assert set(model.predict(frame.head(50))) <= {"ill", "well"}
    assert model.network_.states[model.network_.index("ward")] == ("A", "B", "missing")
    assert model.guarantee_.epsilon == 4
    with pytest.raises(dp.InputError, match="not a declared state"):
        model.predict(frame.assign(smoker="maybe"))


def test_the_names_of_bins_have_few_digits() -> None:
    from dpbayes.estimators import DPNaiveBayes

    model = DPNaiveBayes(bounds=(0, 3), bins=5, classes=[0, 1, 2], random_state=1).fit(X, Y)
    assert model.network_.states[1] == ("< 0.6", "0.6 to < 1.2", "1.2 to < 1.8", "1.8 to < 2.4", ">= 2.4")


def test_the_code_of_the_document_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(dp.__file__).parents[1] / "docs/interchange.md").read_text(encoding="utf-8")
    code, output = re.findall(r"^```py\n(.*?)^```\n\n```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0]
    exec(code, {"__name__": "__main__"})
    assert capsys.readouterr().out == output
