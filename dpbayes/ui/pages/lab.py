"""Lab: one experiment at a time, each a board with its controls at the left."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from dpbayes.base import terms
from dpbayes.base.looks import Look
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import escaped, listed, many, shortest
from dpbayes.base.validation import InputError
from dpbayes.boards.accuracy import AccuracyInputs, prediction_accuracy
from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.against_epsilon import TRAINING as SHARE
from dpbayes.boards.board import View
from dpbayes.boards.comparison import ComparisonInputs, comparison, releases_of
from dpbayes.boards.hellinger import HellingerInputs, hellinger_or_laplace
from dpbayes.boards.regression import RegressionInputs, regression
from dpbayes.boards.sampling import ReleasedSamples, SamplingInputs, posterior_sampling, query_game, samples_of
from dpbayes.experiments.accuracy.methods import ALL_METHODS, METHODS, methods_for
from dpbayes.experiments.accuracy.plan import TRAINING, AccuracyPlan, Method, Synthetic
from dpbayes.experiments.die import Balance
from dpbayes.experiments.planned_tables import TrueTable
from dpbayes.experiments.regression_scenario import Records, RegressionScenario
from dpbayes.experiments.releases import MechanismAt, at_any_epsilon
from dpbayes.experiments.sampling import Game, answering
from dpbayes.mechanisms import (
    PRIVATE,
    Calibration,
    LaplaceFourier,
    LaplaceUpdates,
    Mechanism,
    NetworkMechanism,
    Outcome,
    PosteriorSampler,
)
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import naive_bayes
from dpbayes.sources.shipped_tables import shipped_regression
from dpbayes.ui.pages.explore_rail import meaning_of, meanings_of, question_line
from dpbayes.ui.pages.stories.opened import open_story
from dpbayes.ui.session.chosen import Chosen, kind_called, question_of
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.kept import kept
from dpbayes.ui.session.options import Experiment, MechanismsShown, Scene
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.board import share, show
from dpbayes.ui.widgets.controls import prior_control
from dpbayes.ui.widgets.from_python import FACE, board_in_python, counts_in_python, program, show_python
from dpbayes.ui.widgets.show import folded, sentence_instead

FEATURES = 16
"""Features of the naive Bayes network of Figure 1."""

MOST_SETS = 1_000
"""Sets of nodes within families up to which the best scales of noise are searched for the comparison."""


def lab_page(chosen: Chosen) -> None:
    """Show the list of experiments with the controls of the chosen one, and its board."""
    shown = EXPERIMENTS[opened := chosen.options("lab").experiment]
    with st.container(key="beside.lab"):
        left, main = st.columns([3, 10], gap="medium")
    with left:
        _list(opened)
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


def _list(opened: Experiment) -> None:
    """List the questions of all experiments; a click opens one."""
    key = "parameter.lab.experiment"
    lines = {one: f"{shown.question} :gray[:small[{one.value}]]" for one, shown in EXPERIMENTS.items()}
    controls.mirror(key, opened)
    st.container(key="experiments").radio(
        "Experiment",
        list(lines),
        key=key,
        format_func=lines.__getitem__,
        label_visibility="collapsed",
        width="stretch",
        on_change=lambda: set_parameter("lab.experiment", st.session_state[key]),
    )


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
    if view.board.private and not Chosen.now().has_public_records:
        st.caption("Not private (curator view).")
    share(view, value, python=(lambda: show_python(python, name, Chosen.now())) if python else None)


# Accuracy


def _accuracy_controls(chosen: Chosen) -> None:
    scene, scenes = _scene(chosen), list(Scene)[not chosen.is_curator :]
    controls.parameter_control("accuracy.scene", default=scene, reach=scenes)
    if scene is not Scene.NAIVE_BAYES:
        net = chosen.network
        target, named = _target(chosen, net), partial(meaning_of, chosen)
        controls.choice("Predicted, from all other columns", "target", net.names, default=target, format_func=named)
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
    calibrations = {Calibration.CERTIFIED, chosen.parameter("calibration")}
    net = naive_bayes(FEATURES) if scene is Scene.NAIVE_BAYES else chosen.network
    return AccuracyPlan(
        network=net,
        target="class" if scene is Scene.NAIVE_BAYES else _target(chosen, net),
        source=chosen.records_of_nodes if scene is Scene.TABLE else Synthetic(),
        epsilons=STOPS,
        methods=methods_for(net, tuple(calibrations), noise, among=_drawn(chosen)),
        training=min(int(chosen.parameter("accuracy.training", _usual_training(chosen))), _most_training(chosen)),
        repeats=options.repeats,
        prior=chosen.settings.prior,
        noise=noise,
        seed=chosen.seed,
    )


def _drawn(chosen: Chosen) -> list[Method]:
    """Return the methods that are drawn: Laplace, Fourier and the chosen mechanism, and others if they are wanted."""
    options = chosen.options("accuracy")
    if options.mechanisms is MechanismsShown.ALL:
        return list(ALL_METHODS.values())
    own = kind_called(chosen.settings.mechanism)
    few = (LaplaceUpdates, LaplaceFourier, own, *[PosteriorSampler] * (options.scene is Scene.NAIVE_BAYES))
    return [method for method in METHODS.values() if method.kind in few]


def _usual_training(chosen: Chosen) -> int:
    """Return how many records train unless chosen: as in the paper's figure, else the share that Explore trains on."""
    return int(TRAINING.typical) if _scene(chosen) is Scene.NAIVE_BAYES else max(1, int(SHARE * chosen.records))


def _most_training(chosen: Chosen) -> int:
    """Return how many records can train: of a table all except one, which is predicted."""
    return max(1, chosen.dataset.n - 1) if _scene(chosen) is Scene.TABLE else int(TRAINING.high)


def _accuracy_board(chosen: Chosen) -> None:
    plan, value = accuracy_plan(chosen), shortest(chosen.epsilon)
    if not plan.network.is_binary:
        st.caption("Fourier needs binary nodes, so it has no curve.")
    step = story.step if (story := open_story()) else None
    key = plan, bool(step and step.guess and plan.network.is_binary)
    inputs = kept("lab.accuracy", key, lambda: AccuracyInputs(plan, meaning_of(chosen, plan.target), key[1]))
    _show("accuracy", key, prediction_accuracy, inputs, value, table=chosen.data_title)


# Regression


def _regression_controls(chosen: Chosen) -> None:
    if chosen.is_curator:
        _offered("regression", "records")
    if _scenario(chosen).records is Records.SYNTHETIC:
        _offered("regression", "n", "features")


def _scenario(chosen: Chosen) -> RegressionScenario:
    """Return the experiment, for a recipient, who may not see errors on a census, with synthetic records."""
    scenario: RegressionScenario = chosen.options("regression")
    return scenario if chosen.is_curator else replace(scenario, records=Records.SYNTHETIC)


def _regression_board(chosen: Chosen) -> None:
    settings, scenario, value = chosen.settings, _scenario(chosen), shortest(chosen.epsilon)
    read = None if scenario.records is Records.SYNTHETIC else shipped_regression
    key = (scenario, settings.seed, settings.data_seed)
    inputs = kept("lab.regression", key, lambda: RegressionInputs(*key, read))
    python = board_in_python(regression, inputs, value)
    _show("regression", key, regression, inputs, value, python=python, records=scenario.records.value)


# Posterior sampling


def _sampling_controls(chosen: Chosen) -> None:
    question_line(chosen)
    controls.parameter_control("draws")


def _sampling_board(chosen: Chosen) -> None:
    sampler, net, question = chosen.mechanism_called("PosteriorSampler"), chosen.network, question_of(chosen)
    # Samples are of one row: a parent without a condition has its usual state.
    parents = net.parents[net.index(question.target)]
    assumed = {name: net.states[net.index(name)][net.telling_state(net.index(name))] for name in parents}
    if added := [f"{meaning_of(chosen, name)} = {assumed[name]}" for name in parents if name not in question.evidence]:
        st.caption(
            f"A sample is of one row of a table, so parents without a condition get one: {escaped(listed(added))}."
        )
    row = replace(question, evidence={name: question.evidence.get(name, assumed[name]) for name in parents})
    cell = row.cell
    assert cell is not None
    assert isinstance(sampler, PosteriorSampler)
    name = row.named(meanings_of(chosen))
    inputs = SamplingInputs(at_any_epsilon(sampler), cell, chosen.counts, chosen.seed, name)
    parameters = (sampler.draws, sampler.calibration, chosen.settings.prior, chosen.network)
    key = (chosen.is_curator, cell, parameters, chosen.counts.digest, chosen.seed)
    public = ReleasedSamples(inputs.sampler_at, cell, lambda epsilon: samples_of(inputs, epsilon), name)
    shown = inputs if chosen.is_curator else public
    _show("sampling", key, posterior_sampling, shown, shortest(chosen.epsilon), table=chosen.data_title)


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
    view = query_game(kept("lab.game", key, lambda: game_of(chosen)), value=str(options.answers))
    _show("game", key, lambda same: same, view, view.board.value)


# A die


def _die_controls(chosen: Chosen) -> None:
    _offered("hellinger", "n")
    options = chosen.options("hellinger")
    if (throws := options.listable.n) != options.n:
        st.info(f"{many(throws, 'throw')} are drawn: more, of {options.sides} sides, have too many results.")
    _offered("hellinger", "sides", "balance")
    if chosen.options("hellinger").balance is Balance.SHARE:
        _offered("hellinger", "share")


def _die_board(chosen: Chosen) -> None:
    scenario, value = chosen.options("hellinger").listable.at(epsilon=1.0), shortest(chosen.epsilon)
    key = (scenario, chosen.seed)
    inputs = kept("lab.hellinger", key, lambda: HellingerInputs(scenario, chosen.seed))
    python = board_in_python(hellinger_or_laplace, inputs, value)
    _show("hellinger", key, hellinger_or_laplace, inputs, value, python=python, n=f"{scenario.n:,}")


# Mechanisms compared


def mechanisms_at(chosen: Chosen) -> dict[Look, MechanismAt]:
    """Return all mechanisms by their looks. One that the network does not allow raises the reason when it is used."""
    return {Look(kind.label, kind.colour): _compared_at(chosen, kind) for kind in PRIVATE}


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
        deltas = {kind.label: chosen.parameter("delta") for kind in PRIVATE if "delta" in parameters_of(kind)}
        return ComparisonInputs(mechanisms_at(chosen), tables, deltas, reading, chosen.seed)

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
        question: What it answers.
        controls: Shows the controls.
        board: Shows the board.
        model: The model, and what its numbers assume.
        more: The parameters that are rarely changed.
        priors: The mechanisms for which a prior is chosen, if one is.
    """

    question: str
    controls: Callable[[Chosen], None]
    board: Callable[[Chosen], None]
    model: str
    more: tuple[str, ...]
    priors: tuple[Any, ...] | None = None


EXPERIMENTS = {
    Experiment.ACCURACY: Shown(
        "What does privacy cost in predictions?",
        _accuracy_controls,
        _accuracy_board,
        "Each record is predicted by the likeliest value given all other columns. Zhang et al. 2016, Figure 1.",
        ("accuracy.mechanisms", "calibration", "accuracy.repeats"),
        (),
    ),
    Experiment.GAME: Shown(
        "How many answers expose one record?",
        lambda _: _offered("sampling", "answer_epsilon", "columns", "records"),
        _game_board,
        "An answer is one sample of a trimmed posterior. Dimitrakakis et al. 2014, whose Theorem 3 is on Proofs.",
        ("sampling.share", "sampling.concentration", "calibration"),
    ),
    Experiment.COMPARISON: Shown(
        "Which mechanism has the least error?",
        lambda _: _offered("release", "reading"),
        _comparison_board,
        "An error is the distance of a released probability from that of the exact posterior.",
        ("calibration", "noise", "delta"),
        PRIVATE,
    ),
    Experiment.SAMPLING: Shown(
        "What can one posterior sample say?",
        _sampling_controls,
        _sampling_board,
        "The interval has all log-odds within ±B. Zhang et al. 2016, Section 3.3; Dimitrakakis et al. 2014, Theorem 2.",
        ("calibration",),
        (PosteriorSampler,),
    ),
    Experiment.REGRESSION: Shown(
        "What does privacy cost in a regression?",
        _regression_controls,
        _regression_board,
        "Released are weights of a linear regression, sampled within a limit that ε sets. Zhang et al. 2016, Figure 2.",
        ("regression.draws", "regression.noise_variance", "regression.train_share", "regression.repeats"),
    ),
    Experiment.DIE: Shown(
        "Which mechanism suits one coin or die?",
        _die_controls,
        _die_board,
        "Enumeration is possible with few tables, noise on one count with two sides. Notes, Section 2.",
        ("hellinger.calibration", "hellinger.prior", "hellinger.delta"),
    ),
}
"""The experiments in the order of their list."""
