"""Lab: one experiment at a time, each a board with its controls at the left."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dpbayes.base import terms
from dpbayes.base.looks import Look
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import shortest, typed
from dpbayes.base.validation import InputError
from dpbayes.boards.accuracy import GRID, AccuracyInputs, prediction_accuracy
from dpbayes.boards.against_epsilon import TRAINING as SHARE
from dpbayes.boards.board import View
from dpbayes.boards.comparison import ComparisonInputs, comparison, releases_of
from dpbayes.boards.hellinger import HellingerInputs, hellinger_or_laplace
from dpbayes.boards.regression import RegressionInputs, RegressionPrice, regression
from dpbayes.boards.sampling import (
    ReleasedSamples,
    SamplingInputs,
    posterior_sampling,
    query_game,
    samples_of,
)
from dpbayes.experiments.accuracy.methods import ADDED, ALL_METHODS, METHODS, methods_for
from dpbayes.experiments.accuracy.plan import TRAINING, AccuracyPlan, Method, Synthetic
from dpbayes.experiments.die import Balance
from dpbayes.experiments.planned_tables import TrueTable
from dpbayes.experiments.regression_scenario import NormBound, Records, RegressionScenario
from dpbayes.experiments.releases import MechanismAt, at_any_epsilon
from dpbayes.experiments.sampling import Game, answering
from dpbayes.mechanisms import (
    PRIVATE,
    Calibration,
    Mechanism,
    NetworkMechanism,
    Outcome,
    PosteriorSampler,
)
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import naive_bayes
from dpbayes.sources.shipped_tables import shipped_regression
from dpbayes.ui.pages.explore_rail import question_line
from dpbayes.ui.session.chosen import Chosen, kind_called, question_of
from dpbayes.ui.session.kept import kept
from dpbayes.ui.session.options import CalibrationsShown, Experiment, MechanismsShown, Scene
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.board import share, show
from dpbayes.ui.widgets.controls import prior_control
from dpbayes.ui.widgets.from_python import FACE, board_in_python, counts_in_python, program, show_python
from dpbayes.ui.widgets.show import folded, next_page, sentence_instead

FEATURES = 16
"""Features of the naive Bayes network of Figure 1."""

MOST_SETS = 1_000
"""Sets of nodes within families up to which the best scales of noise are searched for the comparison."""

_CALIBRATIONS = {
    CalibrationsShown.BOTH: tuple(Calibration),
    CalibrationsShown.CERTIFIED: (Calibration.CERTIFIED,),
    CalibrationsShown.AS_PRINTED: (Calibration.AS_PRINTED,),
}


def lab_page(chosen: Chosen) -> None:
    """Show the select of experiments with the controls of the chosen one, and its board."""
    shown = EXPERIMENTS[chosen.options("lab").experiment]
    with st.container(key="about"):
        st.caption(shown.picture)
    with st.container(key="beside.lab"):
        left, main = st.columns([2, 9], gap="medium")
    with left:
        controls.parameter_control("lab.experiment")
    with main, st.container(key="main"), sentence_instead():
        with left:
            shown.controls(chosen)  # what these refuse, a missing table or network, is said once, instead of the board
            with folded("More settings", key="lab.more") as is_open:
                for name in shown.more if is_open else ():
                    controls.parameter_control(name)
                if is_open and shown.priors is not None:
                    prior_control(*shown.priors)
                if is_open and chosen.is_curator:
                    controls.text_field("Seed of the simulation", "seed", help=terms.SEED)
        shown.board(chosen)
        st.caption(shown.model)
    next_page("Release", "pages/release.py")


def _offered(group: str, *names: str) -> None:
    for name in names:
        controls.parameter_control(f"{group}.{name}")


def _show(
    name: str, key: Hashable, board: Callable[[Any], View], inputs: Any, value: str, *, python: str = "", **facts: str
) -> None:
    """Show the board of some inputs, and offer its files and the `python` code that computes its numbers."""
    view = board(inputs).stating(facts)
    with st.spinner("Simulating …"):
        show(name, key, lambda: view, value)
    if view.board.private:
        st.caption("Not private (curator view).")
    share(view, value, python=(lambda: show_python(python, name, Chosen.now())) if python else None)


# Accuracy


def _accuracy_controls(chosen: Chosen) -> None:
    scene = chosen.options("accuracy").scene
    _offered("accuracy", "scene")
    if scene is not Scene.NAIVE_BAYES:
        net = chosen.network
        controls.choice("Target, predicted from all other nodes", "target", net.names, default=_target(chosen, net))
    limit = _most_training(chosen)
    reach = [*(stop for stop in TRAINING.stops if stop < limit), float(limit)]
    controls.parameter_control("accuracy.training", default=_usual_training(chosen), reach=reach)


def _target(chosen: Chosen, net: Network) -> str:
    """Return the chosen target, or that of the question on Explore; if it has one state, the first node of several."""
    if chosen.settings.target in net.names:
        return chosen.settings.target
    varied = [name for name, card in zip(net.names, net.cards, strict=True) if card > 1]
    target = question_of(chosen).target
    return target if target in varied else next(iter(varied), target)


def _scene(chosen: Chosen) -> Scene:
    """Return which records are predicted: to a recipient, who may not see curves of true records, synthetic ones."""
    scene: Scene = chosen.options("accuracy").scene
    return Scene.NETWORK if scene is Scene.TABLE and not chosen.is_curator else scene


def accuracy_plan(chosen: Chosen) -> AccuracyPlan:
    """Return the plan of the experiment. Errors: InputError, as for an `AccuracyPlan`."""
    options, scene, noise = chosen.options("accuracy"), _scene(chosen), chosen.parameter("noise")
    net = naive_bayes(FEATURES) if scene is Scene.NAIVE_BAYES else chosen.network
    return AccuracyPlan(
        network=net,
        target="class" if scene is Scene.NAIVE_BAYES else _target(chosen, net),
        source=chosen.records_of_nodes if scene is Scene.TABLE else Synthetic(),
        epsilons=GRID,
        methods=methods_for(net, _CALIBRATIONS[options.curves], noise, among=_drawn(chosen)),
        training=min(int(chosen.parameter("accuracy.training", _usual_training(chosen))), _most_training(chosen)),
        repeats=options.repeats,
        prior=chosen.settings.prior,
        noise=noise,
        seed=chosen.seed,
    )


def _drawn(chosen: Chosen) -> list[Method]:
    """Return the methods that are drawn: those of Figure 1 with the chosen mechanism, and others if they are wanted."""
    options = chosen.options("accuracy")
    if options.mechanisms is MechanismsShown.ALL:
        return list(ALL_METHODS.values())
    drawn = [method for method in METHODS.values() if method.option[0] not in ADDED]
    if options.scene is not Scene.NAIVE_BAYES:
        kind = kind_called(chosen.settings.mechanism)
        drawn += [method for method in METHODS.values() if method.kind is kind and method not in drawn]
    return drawn


def _usual_training(chosen: Chosen) -> int:
    """Return how many records train unless chosen: as in the paper's figure, else the share that Explore trains on."""
    return int(TRAINING.typical) if _scene(chosen) is Scene.NAIVE_BAYES else max(1, int(SHARE * chosen.records))


def _most_training(chosen: Chosen) -> int:
    """Return how many records can train: of a table all except one, which is predicted."""
    return max(1, chosen.dataset.n - 1) if _scene(chosen) is Scene.TABLE else int(TRAINING.high)


def _accuracy_board(chosen: Chosen) -> None:
    if _scene(chosen) is not chosen.options("accuracy").scene:
        st.caption("These curves use synthetic records. Only the curator may see curves of true records.")
    plan, value = accuracy_plan(chosen), shortest(chosen.epsilon)
    if not plan.network.is_binary:
        st.caption("Fourier needs binary nodes, so it has no curve.")
    inputs = kept("lab.accuracy", plan, lambda: AccuracyInputs(plan))
    _show("accuracy", plan, prediction_accuracy, inputs, value, table=chosen.data_title)


# Regression


def _regression_controls(chosen: Chosen) -> None:
    _offered("regression", "records", "norm_bound")
    if chosen.options("regression").norm_bound is NormBound.EPSILON:
        _offered("regression", "epsilon")
    _offered("regression", "draws")
    if chosen.options("regression").records is Records.SYNTHETIC:
        _offered("regression", "n", "features")


def _regression_board(chosen: Chosen) -> None:
    settings, options = chosen.settings, chosen.options("regression")
    scenario = replace(options, precision=RegressionScenario.precision)  # the slider of the board
    value, records = typed(options.precision), scenario.records.value
    read = None if scenario.records is Records.SYNTHETIC else shipped_regression
    if read is not None and not chosen.is_curator:
        price = RegressionPrice(scenario, *read("fulton")[0].features.shape)
        _show("regression", scenario, regression, price, value, records=records)
        return
    key = (scenario, settings.seed, settings.data_seed)
    inputs = kept("lab.regression", key, lambda: RegressionInputs(*key, read))
    python = board_in_python(regression, inputs, value)
    _show("regression", key, regression, inputs, value, python=python, records=records)


# Posterior sampling


def _sampling_controls(chosen: Chosen) -> None:
    question_line(chosen)
    controls.parameter_control("draws")


def _sampling_board(chosen: Chosen) -> None:
    sampler, net, question = chosen.mechanism_called("PosteriorSampler"), chosen.network, question_of(chosen)
    # Samples are of one row: a parent without a condition has its usual state.
    parents = net.parents[net.index(question.target)]
    usual = {name: net.states[net.index(name)][net.telling_state(net.index(name))] for name in parents}
    cell = replace(question, evidence={name: question.evidence.get(name, usual[name]) for name in parents}).cell
    assert cell is not None
    assert isinstance(sampler, PosteriorSampler)
    inputs = SamplingInputs(at_any_epsilon(sampler), cell, chosen.counts, chosen.seed)
    value = shortest(chosen.epsilon)
    parameters = (sampler.draws, sampler.calibration, chosen.settings.prior, chosen.network)
    key = (chosen.is_curator, cell, parameters, chosen.counts.digest, chosen.seed)
    public = ReleasedSamples(inputs.sampler_at, cell, lambda epsilon: samples_of(inputs, epsilon))
    shown = inputs if chosen.is_curator else public
    _show("sampling", key, posterior_sampling, shown, value, table=chosen.data_title)


# The query game


def game_of(chosen: Chosen) -> Game:
    """Return the query game of the options. Errors: InputError if nothing is left to sample."""
    options = chosen.options("sampling")
    successes, calibration = round(options.records * options.share), chosen.parameter("calibration")
    sampler = answering(options.columns, epsilon=options.answer_epsilon, calibration=calibration)
    return Game(sampler, options.records, successes, options.concentration, chosen.seed)


def _game_board(chosen: Chosen) -> None:
    options = chosen.options("sampling")
    key = (replace(options, answers=1), chosen.parameter("calibration"), chosen.seed)
    inputs, value = kept("lab.game", key, lambda: game_of(chosen)), str(options.answers)
    view = query_game(inputs, value=value)
    _show("game", key, lambda _: view, inputs, view.board.value)


# A die


def _die_controls(chosen: Chosen) -> None:
    _offered("hellinger", "n", "sides", "balance")
    if chosen.options("hellinger").balance is Balance.SHARE:
        _offered("hellinger", "share")


def _die_board(chosen: Chosen) -> None:
    scenario, value = chosen.options("hellinger").at(epsilon=1.0), shortest(chosen.epsilon)
    key = (scenario, chosen.seed)
    inputs = kept("lab.hellinger", key, lambda: HellingerInputs(scenario, chosen.seed))
    python = board_in_python(hellinger_or_laplace, inputs, value)
    _show("hellinger", key, hellinger_or_laplace, inputs, value, python=python, n=f"{scenario.n:,}")


# Mechanisms compared


def mechanisms_at(chosen: Chosen) -> dict[Look, MechanismAt]:
    """Return all mechanisms by their looks. One that the network does not allow raises the reason when it is used."""
    marks = {kind: f"{kind.label} (δ > 0)" if "delta" in parameters_of(kind) else kind.label for kind in PRIVATE}
    return {Look(name, kind.colour): _compared_at(chosen, kind) for kind, name in marks.items()}


def _compared_at(chosen: Chosen, kind: type[NetworkMechanism[Outcome]]) -> MechanismAt:
    def at(epsilon: float) -> Mechanism[Outcome]:
        if hasattr(kind, "design") and len(chosen.network.closure) > MOST_SETS:
            raise InputError("The search for the best noise takes too long on this network.")
        return replace(chosen.mechanism_called(kind.__name__), epsilon=epsilon)  # type: ignore[type-var]

    return at


def _comparison_board(chosen: Chosen) -> None:
    reading, value = chosen.options("release").reading, shortest(chosen.epsilon)
    shared = (chosen.network, reading, chosen.settings.prior, chosen.seed, chosen.is_curator)
    parameters = tuple(pair for pair in chosen.settings.parameters if "." not in pair[0] and pair[0] != "epsilon")

    def inputs() -> ComparisonInputs:
        tables = TrueTable(chosen.counts) if chosen.is_curator else chosen.planned_tables
        return ComparisonInputs(mechanisms_at(chosen), tables, reading, chosen.seed)

    key = (*shared, parameters, chosen.counts.digest if chosen.is_curator else chosen.n)
    compared = kept("lab.comparison", key, inputs)
    python = _compare_in_python(chosen) if chosen.is_curator else ""
    _show("comparison", key, comparison, compared, value, python=python, table=chosen.data_title)


def _compare_in_python(chosen: Chosen) -> str:
    """Return the code that simulates releases of the table by every mechanism, with other noise than the page."""
    size = releases_of(chosen.network)
    simulated = (
        f"errors = dp.compare(data, network, epsilons=[{chosen.epsilon!r}], releases={size}, seed={chosen.seed})"
    )
    return program(FACE, counts_in_python(chosen), simulated, "print(errors)")


@dataclass(frozen=True)
class Shown:
    """One experiment on the page.

    Attributes:
        picture: What the picture shows, and what to look at.
        controls: Shows the controls.
        board: Shows the board.
        model: The model, and what its numbers assume.
        more: The parameters that are rarely changed.
        priors: The mechanisms for which a prior is chosen, if one is.
    """

    picture: str
    controls: Callable[[Chosen], None]
    board: Callable[[Chosen], None]
    model: str
    more: tuple[str, ...]
    priors: tuple[Any, ...] | None = None


EXPERIMENTS = {
    Experiment.ACCURACY: Shown(
        "What does privacy cost in predictions? Look where a curve meets the wide blue line: from there on, no "
        "loss is detected. Below the dashed line, the majority class alone predicts better.",
        _accuracy_controls,
        _accuracy_board,
        "Each record is predicted by the state with the largest P(target | all other nodes) under the CPTs of a "
        "release. Training records are private, test records are not released. A posterior sample is near 0.5 until "
        "ε lets it follow the records. Zhang et al. 2016, Section 5.1 and Figure 1.",
        ("accuracy.mechanisms", "accuracy.curves", "accuracy.repeats"),
        (),
    ),
    Experiment.REGRESSION: Shown(
        "What does privacy cost in a regression? A stronger prior gives a smaller ε and a larger error. "
        "Look for a precision at which both are acceptable.",
        _regression_controls,
        _regression_board,
        "y = w·x + noise of variance σ², w ~ N(0, I/b), all features and targets within bounds that are public. A "
        "sample of w within norm B is released. Zhang et al. 2016, Section 5.2, Appendix D and Figure 2.",
        ("regression.noise_variance", "regression.train_share", "regression.repeats"),
    ),
    Experiment.SAMPLING: Shown(
        "How far must a posterior be trimmed before one sample of it is private? Look how narrow the allowed region is "
        "at a small ε, and how far the exact posterior lies from it.",
        _sampling_controls,
        _sampling_board,
        "A sample of the posterior whose log-odds are trimmed to ±B is released; B follows from ε. Zhang et al. 2016, "
        "Section 3.3; Dimitrakakis et al. 2014, Theorem 2.",
        ("calibration",),
        (PosteriorSampler,),
    ),
    Experiment.GAME: Shown(
        "How many private answers reveal which of two tables is used? Each answer hides it, many together do not. "
        "Look where the attacker wins nearly every game.",
        lambda _: _offered("sampling", "answer_epsilon", "columns", "records"),
        _game_board,
        "An answer is one sample of the trimmed posterior of one of two tables that differ in one record. Dimitrakakis "
        "et al. 2014, Theorems 1 to 3.",
        ("sampling.share", "sampling.concentration", "calibration"),
    ),
    Experiment.DIE: Shown(
        "For experts: which mechanism releases the posterior of one die, or of a coin (2 sides), best? Look how near "
        "each box is to a Hellinger distance of 0: there, a release is the exact posterior.",
        _die_controls,
        _die_board,
        "The exponential mechanism scores each posterior by its Hellinger distance to the exact one. The sensitivities "
        "are proved, and the smooth one depends on the throws. Enumeration needs few tables, "
        "noise on one count two sides. Notes, Section 2.",
        ("hellinger.calibration", "hellinger.prior", "hellinger.delta"),
    ),
    Experiment.COMPARISON: Shown(
        "Which mechanism has the least error on my table? Look which line is lowest at your ε. Mechanisms with "
        "δ > 0 give a weaker guarantee: a probability may exceed exp(ε) times its former one by δ.",
        lambda _: _offered("release", "reading"),
        _comparison_board,
        "The error of a cell is |released probability − exact posterior mean|, averaged over all cells. All mechanisms "
        "use the same tables and the same prior.",
        ("calibration", "noise", "delta"),
        PRIVATE,
    ),
}
"""The experiments in the order of their select."""
