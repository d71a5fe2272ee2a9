"""The pictures beside the posterior, against epsilon: divergence and its bounds, the signs of counts, and accuracy."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpbayes.base.looks import BOUND, EXACT, Curve, Look
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work, in_parts
from dpbayes.base.text import escaped, numeral, plural, share_text
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.methods import ALL_METHODS, methods_for
from dpbayes.experiments.accuracy.plan import AccuracyPlan, default_target
from dpbayes.experiments.accuracy.study import AccuracyStudy, accuracy_steps
from dpbayes.experiments.epsilon_curves import EpsilonCurves, epsilon_curves
from dpbayes.figures.accuracy import accuracy_figure
from dpbayes.figures.explore import HEIGHT, Spread, divergence_figure, shares_figure
from dpbayes.figures.non_negativity import non_negativity_figure
from dpbayes.figures.style import Figure
from dpbayes.mechanisms import LaplaceUpdates, Mechanism, Noise, Outcome
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.mechanisms.stealth import Needed, Sense
from dpbayes.theory.claims.claim import Bound, joined
from dpbayes.theory.zhang16.posterior_kl.bounds import posterior_kl
from dpbayes.theory.zhang16.stealth import printed_probability
from dpbayes.ui.pages.claims.selection import turn_to_bound
from dpbayes.ui.pages.explore.averages import releases_key
from dpbayes.ui.pages.explore.non_negativity import STATED, non_negativity_of, records_text, with_true_counts
from dpbayes.ui.pages.explore.simulations import shared_simulations, simulated_once, values_read
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.current import change, set_parameter
from dpbayes.ui.session.host import share_of_host
from dpbayes.ui.session.increments import kept_share
from dpbayes.ui.session.kept import kept
from dpbayes.ui.session.options.accuracy import Scene
from dpbayes.ui.session.options.research import BoundClaim, CompareView
from dpbayes.ui.session.options.workflow import Against
from dpbayes.ui.widgets.address import turn_to
from dpbayes.ui.widgets.chart import chart, take_board
from dpbayes.ui.widgets.controls import mirror, parameter_control, toggle
from dpbayes.ui.widgets.frames import PageFrame
from dpbayes.ui.widgets.page import Places
from dpbayes.ui.widgets.running import Running, running

PAIRS = ("Posterior and KL", "Counts and accuracy")

ANCHOR = "details"
"""Where the sections below the board begin."""

Result = TypeVar("Result")

GRID = tuple(float(f"{10 ** (k / 5):.3g}") for k in range(-10, 11))
"""The epsilons at which releases are simulated, 0.01 to 100."""

ACCURACY_GRID = GRID[::2]

STOPS = tuple(EPSILON.stops)
"""The epsilons at which bounds are evaluated: those of the slider."""

RECORD_RELEASES, MOST_RECORD_VALUES = 3, 2_000_000
"""Simulated releases at each epsilon of a mechanism that reads the records, and the values of records that one of them
may read."""

ONE_EPSILON = "A release of this size is simulated at one ε only; the picture against ε is left out."

MOST_VALUES, MOST_RELEASES, LEAST_RELEASES = 400_000, 400, 10
"""The number of released values at each epsilon, and the limits of the number of releases."""

MOST_AT_ONCE = 1_000_000
"""Numbers of the fewest releases at one epsilon, at most; larger releases have no picture against epsilon."""

REPEATS, TRAINING = 20, 0.8
"""Splits of the table behind the accuracy, and the share of the records that each trains on."""

TOGETHER = 250
"""Cells times epsilons of which bounds are evaluated in one step."""

AWARE = "noise-aware"

SHORT = {"exact (not private)": "exact", "majority class": "majority"}
"""What baselines are called in a small picture."""

WAITING = "Computing …"

MUST_BE = {Sense.MARGINALS: "tables", Sense.PARAMETERS: "parameters", Sense.TABLE: "whole table"}
"""What must be non-negative, in the few words that a legend of a board has room for."""

THEOREM = "THEOREM_1"
"""The exhibit of the bound on the KL divergence of a posterior released with Laplace noise."""


def board(chosen: Chosen) -> tuple[Places, dict[str, DeltaGenerator]]:
    """Return the containers of the page, and those of the other pictures that this seat may see, by key.

    The slider is above the pictures that it moves, and the other controls are beside them. A low screen shows one pair
    of pictures at a time.
    """
    top = st.container(key="headline")
    with st.container(key="explore"):
        left, controls = st.columns([7, 2], gap="medium")
    whole = left.container(key="whole")
    main, pictures = whole.container(key="main"), whole.container(key="board")
    shown = _shown_beside(chosen)
    with pictures:
        if len(shown) > 1:
            with st.container(key="board-pair"):
                st.segmented_control("Pictures", PAIRS, default=PAIRS[0], required=True, label_visibility="collapsed")
        with st.container(key="pair-1"):
            first, *cells = st.columns(min(2, 1 + len(shown)), gap="small")
        if len(shown) > 1:
            with st.container(key="pair-2"):
                cells += st.columns(2, gap="small")
        if not chosen.is_curator:
            st.caption("The other pictures are computed from the true counts: curator view only.")
    with first, _header("posterior", TITLES["posterior"]):
        toggle("Zoom", "zoom", width="content")
        st.markdown(f"[More](#{ANCHOR})", width="content")
    with left:
        take_board(key="board.take")
    for part in (top, main):
        part.empty()  # a browser shows no container that has nothing in it: what comes last would move the picture
    places = {key: cell.container(key=f"follows-{key}") for key, cell in zip(shown, cells, strict=True)}
    return Places(top, main, first.container(key="picture"), controls), places


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture of the board: its title, its content and one sentence below it.

    `turn` opens the page with more details, with the settings of the picture. `choice` is the name of an option of
    Explore whose control is beside the title.
    """

    title: str
    figure: Figure | None
    alt: str
    sentence: str
    turn: Callable[[], None] | None = None
    choice: str = ""


def pictures_beside(chosen: Chosen, places: "dict[str, DeltaGenerator]") -> list[Running[Any]]:
    """Show the three pictures beside the posterior in their containers, and return their unfinished work."""
    works: list[Running[Any]] = []
    for key, place in places.items():
        with place:
            _show(chosen, key, _picture_of(chosen, key, works))
    return works


def follow_hand(chosen: Chosen) -> PageFrame:
    """Return the pictures beside the posterior, and their sentences, while the slider moves."""
    pictures = {key: _picture_of(chosen, key, []) for key in _shown_beside(chosen)}
    figures = {f"explore.{key}": picture.figure for key, picture in pictures.items() if picture.figure is not None}
    return PageFrame(figures, {f"follows-{key} p": picture.sentence for key, picture in pictures.items()})


def _shown_beside(chosen: Chosen) -> list[str]:
    return [key for key in MAKERS if chosen.is_curator or (key == "counts" and _is_fourier(chosen))]


def _picture_of(chosen: Chosen, key: str, works: list[Running[Any]]) -> Picture:
    """Return a picture, or the message why there is none."""
    try:
        return MAKERS[key](chosen, works)
    except InputError as error:
        return Picture(TITLES[key], None, "", escaped(str(error)))


def _show(chosen: Chosen, key: str, picture: Picture) -> None:
    with _header(key, picture.title):
        if key == "accuracy":
            _target_choice(chosen)
        if picture.choice:
            parameter_control(picture.choice, label="collapsed")
        name = f"More *on {picture.title}*"  # the style leaves the emphasized part to screen readers
        if picture.turn is not None and st.button(name, key=f"more.{key}", type="tertiary"):
            picture.turn()
    if picture.figure is not None:
        chart(picture.figure, key=f"explore.{key}", alt=picture.alt, simulates=True)
    st.caption(picture.sentence)


@contextmanager
def _header(key: str, title: str) -> Iterator[None]:
    """Show a picture's title, and at the end of the same line what follows here."""
    with st.container(
        key=f"title-{key}",
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="center",
        gap="small",
    ):
        st.markdown(f"**{title}**", width="content")
        yield


def _curves(chosen: Chosen, works: list[Running[Any]]) -> EpsilonCurves | None:
    """Return the curves of simulated releases so far, None at first. Errors: InputError."""
    mechanism, counts, grid = chosen.mechanism, chosen.statistic, GRID
    values, read = chosen.network.cell_count * getattr(mechanism, "draws", 1), values_read(mechanism, counts.n)
    if LEAST_RELEASES * values > MOST_AT_ONCE or read > MOST_RECORD_VALUES:
        raise InputError(ONE_EPSILON)
    releases = max(LEAST_RELEASES, min(share_of_host(MOST_RELEASES), MOST_VALUES // (len(GRID) * values)))
    if read:
        releases, grid = RECORD_RELEASES, ACCURACY_GRID

    def at(epsilon: float) -> Mechanism[Outcome]:
        changed: Mechanism[Outcome] = replace(mechanism, epsilon=epsilon)  # type: ignore[type-var]
        return changed

    def start() -> Work[EpsilonCurves]:
        rng = stream(chosen.seed, "explore", type(mechanism).__name__)
        return epsilon_curves(at, counts, grid, rng, releases=releases)

    return _begun(chosen, "explore.curves", releases_key(chosen, but=("epsilon",)), start, works)


# KL divergence


def divergence_picture(chosen: Chosen, works: list[Running[Any]]) -> Picture:
    """KL(exact || private) of simulated releases against epsilon; for Laplace with the bounds of Theorem 1."""
    title, curves = TITLES["divergence"], _curves(chosen, works)
    if curves is None:
        return Picture(title, None, "", WAITING)
    what = "posterior" if curves.of_posteriors else "prediction"
    mean, low, high = curves.divergence_spread
    spread = Spread(Look("mean", chosen.mechanism.colour), curves.epsilons, mean, low, high)
    bounds, compared = [], "no bound is proved"
    if kind_called(chosen.settings.mechanism) is LaplaceUpdates and chosen.parameter("noise") is Noise.REAL:
        bound = _bound(chosen, works)
        bounds = [] if bound is None else _bound_curves(bound)
        compared = f"proved bound: {numeral(_certified_here(chosen, bound))}"
    figure = divergence_figure(spread, bounds, epsilon=chosen.epsilon, what=what)
    alt = f"KL divergence of the {what} against epsilon."
    here = _at(chosen.epsilon, curves.epsilons, np.log(np.maximum(mean, 1e-300)))
    if here is None:
        sentence = _not_here(chosen.epsilon)
    else:  # of one line at every ε: a second one would move the pictures below while the slider moves
        which = "naive posterior" if curves.of_posteriors else "prediction"  # the bounds are on the naive one
        nats = numeral(float(np.exp(here)), 2)
        sentence = f"At ε = {numeral(chosen.epsilon)}, the mean KL of the {which} is {nats} nats ({compared})."
    return Picture(title, figure, f"{alt} {sentence}", sentence, turn=lambda: turn_to_bound(BoundClaim[THEOREM]))


def _bound(chosen: Chosen, works: list[Running[Any]]) -> Bound | None:
    """Return Theorem 1 at the first stops of the slider, as far as it is evaluated; None at first."""
    several = max(1, TOGETHER // chosen.network.cell_count)
    groups = [STOPS[start : start + several] for start in range(0, len(STOPS), several)]
    key = (chosen.network, chosen.settings.prior, chosen.counts.digest, chosen.options("bounds").delta)
    parts = _begun(
        chosen, "explore.bounds", key, lambda: in_parts(lambda k: _bound_at(chosen, groups[k]), len(groups)), works
    )
    return None if parts is None else joined(parts)


def _bound_curves(bound: Bound) -> list[Curve]:
    """Return the theorem as stated in the paper and as proved."""
    x, error = np.array(STOPS[: len(bound.printed)]), np.full(len(bound.printed), np.nan)
    return [
        Curve(Look("proved bound", BOUND), x, bound.certified, error),
        Curve(Look("stated bound", BOUND, "dash", width=2), x, bound.printed, error),
    ]


def _certified_here(chosen: Chosen, bound: Bound | None) -> float:
    """Return the proved bound at the chosen epsilon; between the stops, it is kept with the releases there."""
    if bound is not None and chosen.epsilon in STOPS[: len(bound.certified)]:
        return float(bound.certified[STOPS.index(chosen.epsilon)])
    key = ("bound", chosen.parameter("draws"), chosen.options("bounds"))
    return float(simulated_once(chosen).memo.once(key, _bound_at, chosen, (chosen.epsilon,)).certified[0])


def _bound_at(chosen: Chosen, epsilons: tuple[float, ...]) -> Bound:
    delta = chosen.options("bounds").delta
    return posterior_kl(chosen.prior, chosen.counts, epsilon=np.array(epsilons), delta=delta).theorem


# Signs of counts


def counts_picture(chosen: Chosen, works: list[Running[Any]]) -> Picture:
    """For Fourier noise the probability that no released count is negative; else the share of limited counts."""
    if _is_fourier(chosen):
        return _non_negativity(chosen, works)
    title, curves = CLIPPED, _curves(chosen, works)
    if curves is None:
        return Picture(title, None, "", WAITING)
    if not curves.has_counts:
        label = kind_called(chosen.settings.mechanism).label
        return Picture(title, None, "", f"{label} releases probabilities, not counts: no count can be negative.")
    share = curves.limited.mean(axis=1)
    error = curves.limited.std(axis=1) / np.sqrt(curves.releases)
    figure = shares_figure(
        [Curve(Look("simulated releases", chosen.mechanism.colour), curves.epsilons, share, error)],
        epsilon=chosen.epsilon,
        title="share of clipped counts",
    )
    here = _at(chosen.epsilon, curves.epsilons, share)
    if here is None:
        return Picture(title, figure, "Share of clipped counts against epsilon.", _not_here(chosen.epsilon))
    sentence = f"At ε = {numeral(chosen.epsilon)}, {share_text(here)} of the released counts are clipped to 0 or to n."
    return Picture(title, figure, sentence, sentence)


def _non_negativity(chosen: Chosen, works: list[Running[Any]]) -> Picture:
    """P(no released number is negative): with all counts zero, as stated, and with the true counts."""
    mechanism: Any = chosen.mechanism
    t = getattr(mechanism, mechanism.increment)
    worst = kept_share(chosen.network, chosen.parameter("calibration"), t, mechanism.noise_law.drawn_once)
    if chosen.options("explore").against is Against.INCREMENT:
        figure, counts = _against_increment(chosen, t, works)
        added = plural(records_text(t * counts), "count")
        sentence = f"At least {share_text(worst)} of releases have no negative count; t adds {added} per table."
    else:
        figure = _against_epsilon(chosen, t, worst, works)
        sentence = f"With t = {numeral(t)}, at least {share_text(worst)} of releases have no negative count, at any ε."
    details = partial(_turn_to_compare, CompareView.NON_NEGATIVITY)
    return Picture(TITLES["counts"], figure, sentence, sentence, turn=details, choice="explore.against")


def _turn_to_compare(view: CompareView) -> None:
    set_parameter("compare.view", view)
    turn_to("pages/compare.py")


def _against_increment(chosen: Chosen, t: float, works: list[Running[Any]]) -> tuple[Figure, float]:
    """Draw the probabilities against t by what must be non-negative; return also what t = 1 adds to every table."""
    simulated = non_negativity_of(chosen)
    running_on: list[Running[Any]] = [simulated.work]
    curves = [simulated.simulated(sense, MUST_BE[sense]) for sense in simulated.worst]
    curves.append(simulated.stated)
    if chosen.is_curator:
        of_counts = with_true_counts(chosen, simulated.mechanism)
        of_counts.work()
        running_on.append(of_counts)
        curves.append(simulated.of_true_counts(Needed.joined(of_counts.so_far)))
    works += [work for work in running_on if work.going]
    marked = (t, simulated.worst[Sense.MARGINALS].estimate(t))
    figure = non_negativity_figure(curves, t=simulated.grid, marked=marked, counts=simulated.counts, height=HEIGHT)
    return figure, simulated.counts


def _against_epsilon(chosen: Chosen, t: float, worst: float, works: list[Running[Any]]) -> Figure:
    """Draw the probabilities at t against epsilon, on which only those with the true counts depend."""
    mechanism: Any = chosen.mechanism
    x, one, none = np.array(GRID), np.ones(len(GRID)), np.full(len(GRID), np.nan)
    curves = [
        Curve(Look("all counts zero", mechanism.colour), x, worst * one, none),
        Curve(STATED, x, float(printed_probability(t)) * one, none),
    ]
    if chosen.is_curator:
        simulated = _curves(chosen, works)
        if simulated is not None:
            share = simulated.non_negative.mean(axis=1)
            curves.append(
                Curve(Look("true counts (curator view)", EXACT), simulated.epsilons, share, none[: len(share)])
            )
    return shares_figure(curves, epsilon=chosen.epsilon, title="P(no negative count)")


# Accuracy


def accuracy_picture(chosen: Chosen, works: list[Running[Any]]) -> Picture:
    """Accuracy of predicting a column of this table with this graph and mechanism, against epsilon."""
    if chosen.reads_records:
        sentence = (
            "The accuracy of adaptive releases is not simulated. *Compare mechanisms* shows the error of their tables "
            "against ε."
        )
        return Picture(TITLES["accuracy"], None, "", sentence, turn=partial(_turn_to_compare, CompareView.TABLES))
    plan = accuracy_plan(chosen)
    key = (plan.network, plan.target, plan.methods, plan.training, plan.prior, plan.noise, plan.seed)
    more = (plan.source, plan.draws, plan.cells)
    study = _begun(chosen, "explore.accuracy", (*key, *more), lambda: accuracy_steps(plan), works)
    if study is None:
        return Picture(TITLES["accuracy"], None, "", WAITING)
    figure = accuracy_figure(_shortly_named(study.curves), study.plan.grid, epsilon=chosen.epsilon, height=HEIGHT)
    sentence = _accuracy_sentence(study, chosen.epsilon)
    return Picture(TITLES["accuracy"], figure, sentence, sentence, turn=lambda: _turn_to_accuracy(plan))


def _turn_to_accuracy(plan: AccuracyPlan) -> None:
    """Open the Accuracy page with as many training records as the picture has: with fewer it would contradict it."""
    set_parameter("accuracy.scene", Scene.TABLE)
    set_parameter("accuracy.training", plan.training)
    turn_to("pages/accuracy.py")


def accuracy_plan(chosen: Chosen) -> AccuracyPlan:
    """Return the experiment of the chosen table, graph and mechanism. Errors: InputError where it cannot be run."""
    network, table, kind = chosen.network, chosen.dataset, kind_called(chosen.settings.mechanism)
    chosen.counts  # noqa: B018 - refuses nodes that are not columns
    calibration, noise = chosen.parameter("calibration"), chosen.parameter("noise")
    among = [method for method in ALL_METHODS.values() if method.kind is kind]
    methods = methods_for(network, (calibration,), noise, among=among)
    return AccuracyPlan(
        network=network,
        target=accuracy_target(chosen),
        source=table,
        epsilons=ACCURACY_GRID,
        methods=methods,
        training=max(1, int(TRAINING * table.n)),
        repeats=share_of_host(REPEATS, 4),
        prior=chosen.settings.prior,
        draws=chosen.parameter("draws"),
        cells=chosen.parameter("cells"),
        noise=noise,
        seed=chosen.seed,
    )


def accuracy_target(chosen: Chosen) -> str:
    """Return the column that is predicted: the person's, else one that is neither constant nor nearly so."""
    network, target = chosen.network, chosen.settings.target
    if target in network.names:
        return target
    table = None
    with suppress(InputError):  # the message is shown instead of the picture
        table = chosen.dataset
    return kept("accuracy_target", (network, table), lambda: default_target(network, table))


def _target_choice(chosen: Chosen) -> None:
    """Offer the column to predict in the line of the title; the question below is about the same one."""
    key = "board.target"
    mirror(key, accuracy_target(chosen))
    st.selectbox(
        "Target: the column to predict",
        chosen.network.names,
        key=key,
        label_visibility="collapsed",
        width=130,
        on_change=lambda: change(target=st.session_state[key]),
    )


def _shortly_named(curves: Sequence[Curve]) -> list[Curve]:
    """Return accuracy curves with the names and dashes that the posterior's curves have."""
    is_read_twice = any(curve.look.name.endswith(AWARE) for curve in curves)
    return [replace(curve, look=_short_look(curve.look, is_read_twice=is_read_twice)) for curve in curves]


def _short_look(look: Look, *, is_read_twice: bool) -> Look:
    if look.name in SHORT:
        return look.called(SHORT[look.name])
    if look.name.endswith(AWARE):
        return replace(look, name=AWARE, dash="solid")
    return replace(look, name="naive", dash="dash") if is_read_twice else look.called("private")


def _accuracy_sentence(study: AccuracyStudy, epsilon: float) -> str:
    exact, *others = [curve for curve in study.curves if curve.look.name != "majority class"]
    target = escaped(study.plan.target)
    if not others:
        return f"Without privacy, {target} is predicted correctly in {share_text(float(exact.y[0]))} of records."
    private = _at(epsilon, study.plan.grid, others[-1].y)
    if private is None:
        return _not_here(epsilon)
    return (
        f"At ε = {numeral(epsilon)}, {target} is predicted correctly in {share_text(private)} of records "
        f"({share_text(float(exact.y[0]))} without privacy)."
    )


# What they share


def _at(epsilon: float, epsilons: FloatArray, values: FloatArray) -> float | None:
    """Return the value of a curve at an epsilon; None beyond the part of the curve that is computed."""
    if not epsilons.min() <= epsilon <= epsilons.max():
        return None
    return float(np.interp(np.log(epsilon), np.log(epsilons), values))


def _not_here(epsilon: float) -> str:
    is_coming = GRID[0] <= epsilon <= GRID[-1]
    return WAITING if is_coming else f"The picture has no value at ε = {numeral(epsilon)}."


def _begun(
    chosen: Chosen,
    kind: str,
    key: tuple[Hashable, ...],
    steps: Callable[[], Work[Result]],
    works: list[Running[Any]],
) -> Result | None:
    """Return the result of a work so far, None before the first one, and add an unfinished work to the list.

    On public records, a server does the work once for all its sessions.
    """

    def start() -> Work[Result]:
        return shared_simulations().once_in_steps((kind, key), _taken, steps) if chosen.has_public_records else steps()

    work = running(kind, key, start).begun()
    if work.going and work not in works:
        works.append(work)
    return work.result


def _taken(steps: Callable[[], Work[Result]]) -> Work[Result]:
    return steps()


def _is_fourier(chosen: Chosen) -> bool:
    """Whether the mechanism lifts its counts so that, with a known probability, none is negative."""
    return hasattr(kind_called(chosen.settings.mechanism), "increment")


CLIPPED = "Clipped counts"
"""The text instead of the picture of non-negativity for a mechanism that clips its counts."""

TITLES = {"posterior": "Posterior", "divergence": "KL divergence", "counts": "Non-negativity", "accuracy": "Accuracy"}

MAKERS: dict[str, Callable[[Chosen, list[Running[Any]]], Picture]] = {
    "divergence": divergence_picture,
    "counts": counts_picture,
    "accuracy": accuracy_picture,
}
"""The pictures that follow the posterior, by their keys, in the order of the board."""
