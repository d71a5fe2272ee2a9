"""Differentially private classifiers for scikit-learn, which the extra `sklearn` installs.

Both release a network over the features and the class once, in `fit`. Predictions are computed from the release and
cost no more privacy. The number of records is public.
"""

import json
import warnings
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.amounts import EpsilonDelta, amount_text
from dpbayes.base.libraries import extra, pd
from dpbayes.base.privacy import NON_PRIVATE, Guarantee
from dpbayes.base.types import Codes, FloatArray
from dpbayes.base.validation import InputError, brief, finite_number, type_checked, warn_caller, whole_number
from dpbayes.mechanisms.adaptive.draws import OpenDPDraws, SimulatedDraws
from dpbayes.mechanisms.adaptive.plan import plan_for
from dpbayes.mechanisms.adaptive.release import drawn_release
from dpbayes.mechanisms.exact_form import rounded_up
from dpbayes.mechanisms.release import Outcome, Release
from dpbayes.model.dataset import Dataset, count
from dpbayes.model.network import MAX_STATES, Network
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import read_document
from dpbayes.releases.document.request import ReleaseRequest
from dpbayes.releases.publishing import drawn_document
from dpbayes.releases.reading import probabilities_and_warning
from dpbayes.sources.columns import Cuts
from dpbayes.sources.domains import Declarations, declare
from dpbayes.sources.edgelist import network as network_of
from dpbayes.sources.named_networks import naive_bayes_over
from dpbayes.sources.table import Table

with extra("sklearn", "A classifier for scikit-learn"):
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

__all__ = ["DPBayesNetClassifier", "DPNaiveBayes", "PrivacyLeakWarning"]

DATASET = "the records given to fit"
"""The name of the table in the document of a release."""


class PrivacyLeakWarning(UserWarning):
    """States that something public was read from the records, so that the fitted model has no guarantee."""


class _Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions from a released network and its CPTs."""

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        bounds: tuple[Any, Any] | None = None,
        bins: int | Sequence[int] = 5,
        columns: Declarations | None = None,
        classes: Sequence[Any] | None = None,
        prior: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.bins = bins
        self.columns = columns
        self.classes = classes
        self.prior = prior
        self.random_state = random_state

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return P(class | features) (n, classes): the tables of the class and of its children decide."""
        check_is_fitted(self)
        codes = _codes_of(self, X, reset=False)
        network: Network = self.network_
        target = network.index(getattr(self, "target", "class"))
        place = {j: k for k, j in enumerate(j for j in range(len(network.names)) if j != target)}
        scores = np.zeros((len(codes), int(network.cards[target])))
        logs = np.log(np.maximum(self.probabilities_, np.finfo(np.float64).tiny))
        for node, family in enumerate(network.families):
            if target in family:
                table = np.moveaxis(np.asarray(network.table(logs, node)), family.index(target), -1)
                scores = scores + table[tuple(codes[:, place[j]] for j in family if j != target)]
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: ArrayLike) -> Any:
        """Return the most probable class (n,) of every record."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # scikit-learn's checks have few records
        return tags


_Classifier.__init__.__qualname__ = "DPNaiveBayes"  # what Python's message calls it


class DPNaiveBayes(_Classifier):
    """Naive Bayes on binned features: a network with arrows from the class to all features, released with noise.

    Args:
        epsilon: The epsilon of the guarantee.
        delta: The delta of the guarantee. With 0, the counts get Laplace noise; otherwise Gaussian noise.
        bounds: The range (low, high) of every feature: two numbers, or two sequences with one number for each feature.
            Values outside count as the nearest bin.
        bins: The number of equal bins of a feature within its bounds, or a sequence with one number for each feature.
        columns: Declarations of the features as `dp.declare` takes them, a dictionary or a file, in place of `bounds`
            and `bins`. X is then a data frame that may contain texts.
        classes: All classes that y may contain.
        prior: The Dirichlet parameter of every cell.
        random_state: None for exact noise of OpenDP from the operating system's randomness. A seed or a generator
            simulates the same noise, for tests; whoever knows the seed can remove the noise.

    Without `bounds` and `columns`, or without `classes`, `fit` reads them from the records, and gives a
    `PrivacyLeakWarning`.

    After `fit`: `classes_`; `network_` and `probabilities_`, the released network and its CPTs (K,); `guarantee_`, the
    proved guarantee, which is none if bounds or classes were read from the records; `is_simulated_`, whether a
    generator drew the noise; and `document_`, the bytes of a release that `verify` checks, or None if the noise was
    simulated, the release is adaptive, or there is no guarantee.

    Raises:
        InputError: In `fit`, a parameter is outside its range, or OpenDP is needed and is not installed.

    Example:
        >>> X = np.random.default_rng(1).normal(size=(1000, 2))
        >>> model = DPNaiveBayes(epsilon=1, bounds=(-3, 3), classes=[0, 1], random_state=1)
        >>> model.fit(X, (X[:, 0] > 0).astype(int)).predict([[-2, 0], [2, 0]])
        array([0, 1])
        >>> print(model.guarantee_)
        ε = 1
    """

    @type_checked
    def fit(self, X: Any, y: Any) -> Self:
        """Release the network of the records X (n, d) and their classes y (n,). Errors: InputError, ValueError."""
        table = _encoded(self, X, y)
        network = naive_bayes_over(dict(zip(table.names, table.states, strict=True)), table.names[0])
        return _tables(self, table, network)


class DPBayesNetClassifier(_Classifier):
    """A Bayesian network over binned features and the class, with a given graph or one that is chosen privately.

    Args:
        epsilon: The epsilon of the guarantee, for the graph and its tables together.
        delta: The delta of the guarantee. With 0, the noise is Laplace noise.
        graph: Arrows between names, as the text "age -> class" or as pairs (parent, child), or None for an adaptive
            release, which chooses the graph and measures its tables. Features without names are x0, x1, ... A given
            graph must be chosen without the records.
        target: The name of the class in the graph. It is the target of an adaptive release.
        bounds: As for `DPNaiveBayes`, like all that follow.
        bins: The number of equal bins of a feature, or a sequence with one number for each feature.
        columns: Declarations of the features.
        classes: All classes that y may contain.
        prior: The Dirichlet parameter of every cell; an adaptive release has its own.
        random_state: None for exact noise of OpenDP; a seed or a generator simulates the same noise.

    After `fit`, the estimator has the attributes of `DPNaiveBayes`.

    Raises:
        InputError: In `fit`, a parameter is outside its range, the arrows close a cycle, or OpenDP is needed and is not
            installed.

    Example:
        >>> X = np.random.default_rng(1).normal(size=(1000, 2))
        >>> model = DPBayesNetClassifier(
        ...     epsilon=1, graph=[("x0", "class")], bounds=(-3, 3), classes=[0, 1], random_state=1
        ... )
        >>> model.fit(X, (X[:, 0] > 0).astype(int)).predict([[-2, 0], [2, 0]])
        array([0, 1])
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        graph: str | Iterable[tuple[str, str]] | None = None,
        target: str = "class",
        bounds: tuple[Any, Any] | None = None,
        bins: int | Sequence[int] = 5,
        columns: Declarations | None = None,
        classes: Sequence[Any] | None = None,
        prior: float = 1.0,
        random_state: Any = None,
    ) -> None:
        data: dict[str, Any] = {"bounds": bounds, "bins": bins, "columns": columns, "classes": classes}
        super().__init__(epsilon=epsilon, delta=delta, **data, prior=prior, random_state=random_state)
        self.graph = graph
        self.target = target

    @type_checked
    def fit(self, X: Any, y: Any) -> Self:
        """Release the network of the records X (n, d) and their classes y (n,). Errors: InputError, ValueError."""
        table = _encoded(self, X, y)
        return _adaptive(self, table) if self.graph is None else _tables(self, table, _network(self.graph, table))


def _network(graph: Any, table: Dataset) -> Network:
    drawn = type_checked(network_of)(graph or json.dumps(table.names[0]))
    if (name := next((name for name in drawn.names if name not in table.names), None)) is not None:
        raise InputError(
            f"graph has the node {brief(name)}, which is neither a feature nor the class {brief(table.names[0])}. "
            f"Write target={brief(name)} if it is the class. Features: {', '.join(map(brief, table.names[1:8]))}."
        )
    return Network.from_edges(table.names, drawn.edges, dict(zip(table.names, table.states, strict=True)))


# From records to a table over domains


def _encoded(model: Any, X: ArrayLike, y: Any) -> Dataset:
    """Check the records, keep the public domains in the model, and return the table. The class is the first column."""
    if y is not None and (missing := np.flatnonzero(pd.isna(np.asarray(y, dtype=object)))).size:
        raise InputError(
            f"y has a missing value in record {missing[0] + 1}. Leave such records out, or make the missing "
            'values a class of their own: y.fillna("unknown").'
        )
    model.columns_ = None if model.columns is None else declare(model.columns)
    declared = [column.name for column in model.columns_ or ()]
    if getattr(y, "name", None) in (getattr(X, "columns", ()) if model.columns is None else declared):
        raise InputError(f"The features contain the class, {brief(y.name)}. Leave it out of them.")
    if model.columns is None:
        features, labels = _numbers(model, X, y, dtype=np.float64)
    elif model.bounds is not None:
        raise InputError("Pass columns or bounds, not both: the declarations have the limits of the features.")
    else:
        features, labels = X, column_or_1d(y, warn=True)
        model.n_features_in_, model.feature_names_in_ = len(declared), np.array(declared, dtype=object)
        check_consistent_length(features, labels)
    check_classification_targets(labels)
    if len(labels) < 2:
        raise InputError("A release needs at least two records; n_samples=1.")
    leaks: list[str] = []
    model.classes_ = _classes(model.classes, labels, leaks)
    if model.columns is None:
        model.edges_ = _edges(model, features, leaks)
        states = tuple(map(_bin_names, model.edges_))
    else:
        states = tuple(column.domain for column in model.columns_)
    model.leaks_ = tuple(leaks)
    if leaks:
        warn_caller(
            f"{' and '.join(leaks)} were read from the records, which reveals information about them, so the model has "
            "no privacy guarantee. State them without looking at the records.",
            PrivacyLeakWarning,
        )
    unnamed = [f"x{j}" for j in range(len(states))]
    names = [str(name) for name in getattr(model, "feature_names_in_", unnamed)]
    codes = np.column_stack([np.searchsorted(model.classes_, labels), _codes_of(model, features, reset=None)])
    states = (tuple(map(str, model.classes_.tolist())), *states)
    return Dataset((getattr(model, "target", "class"), *names), states, codes.astype(np.uint8))


def _numbers(model: Any, *data: Any, **settings: Any) -> Any:
    """Return what scikit-learn checks, or say how columns that are no plain numbers are declared."""
    try:
        return validate_data(model, *data, **settings)
    except ValueError as error:
        if "could not convert string" in str(error):
            raise InputError(f'{error}. Declare texts: columns={{"smoker": ["no", "yes"]}}.') from None
        if "contains NaN" in str(error):
            raise InputError('X contains NaN. Declare it: columns={"age": dp.cuts(0, 50, 99, None)}.') from None
        raise


def _codes_of(model: Any, X: Any, *, reset: bool | None) -> Codes:
    """Return the bin or the state of every value (n, d). `reset` None means that X was checked."""
    if model.columns is not None:
        if isinstance(X, np.ndarray | list):
            raise InputError('With columns, X is a data frame: a step before needs set_output(transform="pandas").')
        with warnings.catch_warnings():
            if reset is False:  # fit has warned
                warnings.simplefilter("ignore")
            return Table.from_frame(X, model.columns_).codes
    numbers = X if reset is None else _numbers(model, X, dtype=np.float64, reset=reset)
    columns = [np.searchsorted(points, numbers[:, j], side="right") for j, points in enumerate(model.edges_)]
    return np.column_stack(columns).astype(np.uint8)


def _classes(declared: Sequence[Any] | None, labels: Any, leaks: list[str]) -> Any:
    if declared is None:
        leaks.append("classes")
        return np.unique(labels)
    classes = np.unique(np.asarray(declared))
    if not 1 <= len(classes) <= MAX_STATES:
        raise InputError(f"The number of classes must be 1 to {MAX_STATES}; {len(classes)} is not.")
    if (other := ~np.isin(labels, classes)).any():
        raise InputError(f"y has the class {brief(np.asarray(labels)[other][0])}, which is not one of classes. Add it.")
    return classes


def _edges(model: Any, features: FloatArray, leaks: list[str]) -> tuple[FloatArray, ...]:
    """Return the points at which every feature is cut into bins."""
    d = features.shape[1]
    bins = list(model.bins) if isinstance(model.bins, Sequence | np.ndarray) else [model.bins] * d
    if model.bounds is None:
        leaks.insert(0, "bounds")
        low, high = features.min(axis=0), features.max(axis=0)
        high = np.where(high > low, high, low + np.maximum(1.0, np.abs(low)))
    else:
        try:
            low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), d) for end in model.bounds)
        except (TypeError, ValueError):
            raise InputError(
                f"bounds must be a pair of a lower and an upper bound, each a number or a list of {d}."
            ) from None
        with np.errstate(over="ignore", invalid="ignore"):
            is_range = (low < high) & np.isfinite(high - low)
        if not is_range.all():
            raise InputError(
                "The lower bound of every feature must be below its upper bound, and both must be finite: "
                "bounds=(lows, highs)."
            )
    if len(bins) != d:
        raise InputError(f"There are {d} features and {len(bins)} numbers of bins. State one for each feature.")
    numbers = [whole_number("The number of bins", number, low=1, high=MAX_STATES) for number in bins]
    return tuple(np.linspace(low[j], high[j], number + 1)[1:-1] for j, number in enumerate(numbers))


def _bin_names(points: FloatArray) -> tuple[str, ...]:
    short = [float(f"{point:.6g}") for point in points.tolist()]
    shown = short if len({*short}) == len(points) else points.tolist()
    return Cuts("numbers", tuple(shown)).states if shown else ("all",)


# Releasing


def _keep(model: Any, network: Network, cpts: FloatArray, guarantee: Guarantee, data: bytes | None = None) -> Any:
    model.network_, model.probabilities_ = network, cpts
    model.guarantee_ = NON_PRIVATE if model.leaks_ else guarantee
    model.document_ = None if model.leaks_ else data  # it would state that all domains are public
    model.is_simulated_ = model.random_state is not None
    return model


def _generator(model: Any) -> np.random.Generator:
    return np.random.default_rng(check_random_state(model.random_state).randint(0, 2**31, size=4))


def _exact(name: str, value: Any) -> Fraction:
    if isinstance(value, str):
        raise InputError(f"{name} must be a number, such as 1 without quotation marks, not {brief(value)}.")
    return Fraction(str(finite_number(name, value, low=0.0, high=1000.0)))


def _adaptive(model: Any, table: Dataset) -> Any:
    epsilon, delta = _exact("epsilon", model.epsilon), _exact("delta", model.delta)
    draws = OpenDPDraws() if model.random_state is None else SimulatedDraws(_generator(model))
    release = drawn_release(plan_for(epsilon, delta, table.names[0]), table, draws)
    return _keep(model, release.network, release.probabilities, release.guarantee)


def _tables(model: Any, table: Dataset, network: Network) -> Any:
    """Release the tables of a graph that was chosen without the records."""
    counts, epsilon, delta = count(network, table), _exact("epsilon", model.epsilon), _exact("delta", model.delta)
    if delta:
        mechanism = "residuals" if network.has_residuals else "gaussian"
        loss: dict[str, Any] = {"stated": EpsilonDelta(epsilon, delta)}
    else:
        mechanism, loss = "laplace", {"epsilon": epsilon}
    request = ReleaseRequest(
        dataset=DATASET,
        network=network,
        mechanism=mechanism,
        n=counts.n,
        prior=(amount_text(_exact("prior", model.prior)),),
        **loss,
    )
    data: bytes | None = None
    answer: Release[Outcome]
    if model.random_state is None:
        data = drawn_document(request, counts)
        answer = read_document(data).tables
    else:
        answer = request.entry.simulated(request).simulate(counts, _generator(model))
    guarantee = answer.guarantee
    if request.rho:
        rho = rounded_up(request.rho)
        guarantee = Guarantee(float(epsilon), float(delta), reference=guarantee.reference, rho=rho)
    return _keep(model, network, probabilities_and_warning(answer, Reading.NOISE_AWARE)[0], guarantee, data)
