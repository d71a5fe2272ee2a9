"""Posterior sampling: the query game between two hypothetical tables that differ in one record."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.randomness import stream
from dpbayes.base.text import many, numeral, plural, share_text, whole_percent
from dpbayes.base.validation import InputError
from dpbayes.experiments.sampling import (
    Family,
    GameStudy,
    NeededAnswers,
    Tables,
    answering,
    needed_answers,
    pair_of,
    play,
)
from dpbayes.figures.sampling import game_figure, needed_figure
from dpbayes.mechanisms import Calibration, PosteriorSampler
from dpbayes.posteriors.smoothness import beta_concentration
from dpbayes.theory.dimitrakakis14.game import (
    Pair,
    ceiling,
    necessary_answers,
    needed_answers_bracket,
    printed_answers,
    printed_answers_tail,
    too_few_answers,
)
from dpbayes.ui.pages.sampling.details import CONCENTRATIONS, details_section
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.options.sampling import SamplingOptions
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.show import data_and_download, refusal

LEVEL = 0.95
MOST_SIMULATED = 4000
"""Answers at most that a game is simulated for when looking for how many are needed."""

DRAWS_AT_ONCE = 1_000_000
MOST_GAMES, LEAST_GAMES = 1000, 50
MOST_ASKED = 2000

LEAST_PRINTED = 2 * math.log(2)
"""At this epsilon and below, the printed omega leaves nothing to draw from a yes-no column."""

HELP = {
    Family.NETWORK: "Yes-no columns; the record changes all of them. Trimmed for the epsilon of one answer.",
    Family.BINOMIAL: "One yes-no column with a Beta prior that is not trimmed.",
    Family.EXPONENTIAL: "Positive values with a rate.",
    Family.LAPLACE: "Values on one side of a known centre; their distance from it is exponential of rate 1/scale.",
    Family.NORMAL: "Values of variance 1 around an unknown mean.",
}


@dataclass(frozen=True, eq=False)
class Game:
    """What is played: the options, the pair of posteriors, and the trimmed mechanism where there is one."""

    options: SamplingOptions
    pair: Pair
    mechanism: PosteriorSampler | None

    @property
    def bracket(self) -> tuple[float, float]:
        """Proved least and most number of answers for LEVEL."""
        least, most = needed_answers_bracket(self.pair, error=1 - LEVEL)
        return max(1.0, float(least)), max(1.0, float(most))


def chosen_game(options: SamplingOptions, calibration: Calibration) -> Game:
    """Return the game that the settings describe. Errors: InputError where nothing can be drawn."""
    sampler, bound = None, math.inf
    if options.family is Family.NETWORK:
        epsilon = options.answer_epsilon
        if calibration is Calibration.AS_PRINTED and epsilon <= LEAST_PRINTED:
            raise InputError(
                f"The epsilon of one answer must be above {numeral(LEAST_PRINTED, 4)} for the printed omega = "
                f"exp(-epsilon/2) to leave anything to draw from; {numeral(epsilon, 6)} is not. Raise it, or use the "
                "certified calibration."
            )
        sampler = answering(options.columns, epsilon=epsilon, calibration=calibration)
        bound = sampler.log_odds_bound
    return Game(options, pair_of(options.family, tables(options), bound=bound), sampler)


def tables(options: SamplingOptions) -> Tables:
    """Return the two hypothetical tables."""
    return Tables(
        options.records,
        round(options.records * options.share),
        options.columns,
        options.concentration,
        options.distance,
    )


def game_section(chosen: Chosen) -> None:
    """Play the game: chart first, controls beside it."""
    options: SamplingOptions = chosen.options("sampling")
    st.subheader("The query game")
    place = st.container(key="game.told")
    controls.parameter_control("sampling.family")
    st.caption(HELP[options.family])
    left, right = st.columns([1, 2], gap="medium")
    game = None
    with right:
        try:
            game = chosen_game(options, chosen.parameter("calibration"))
        except InputError as error:
            refusal(error)
        if game is not None:
            study = games_of(game, seed=chosen.seed)
            needed = needed_answers(study, level=LEVEL)
            with st.container(key="game.beliefs"):
                _belief(game, study)
    with left:
        _controls(options)
    if game is None:
        return
    with place:
        st.markdown(f"**{_sentence(game, study, needed)}**")
        st.caption(
            "An adversary knows both tables and wants to know which one answers; prior odds are even. The tables are "
            "hypothetical, so both seats see this. Games are simulated from a seed."
        )
    with st.container(key="game.needed"):
        _needed(game, study, needed)
    details_section(game.options, game.pair, game.mechanism)


def _controls(options: SamplingOptions) -> None:
    controls.parameter_control("sampling.answers")
    st.button("Ask one more", disabled=options.answers >= MOST_ASKED, on_click=_ask)
    controls.parameter_control("sampling.answer_epsilon")
    if options.family is Family.NETWORK:
        controls.parameter_control("sampling.columns")
    controls.parameter_control("sampling.records")
    if options.family in (Family.NETWORK, Family.BINOMIAL):
        controls.parameter_control("sampling.share")
    else:
        controls.parameter_control("sampling.distance")
    controls.parameter_control("sampling.concentration")


def _ask() -> None:
    set_parameter("sampling.answers", min(MOST_ASKED, Chosen.now().options("sampling").answers + 1))


def games_of(game: Game, *, seed: int) -> GameStudy:
    """Return games long enough for what is asked and, if it can be, for what is needed."""
    length = max(game.options.answers, min(MOST_SIMULATED, math.ceil(game.bracket[1])))
    draws = length * (game.options.columns if game.mechanism else 1)
    games = max(LEAST_GAMES, min(MOST_GAMES, DRAWS_AT_ONCE // draws))
    calibration = game.mechanism.calibration if game.mechanism else Calibration.CERTIFIED
    return _played(
        game.options.family,
        tables(game.options),
        game.mechanism.log_odds_bound if game.mechanism else math.inf,
        (length, games),
        (seed, calibration.value),
    )


@st.cache_data(scope="session", max_entries=4, show_spinner="Playing …")
def _played(family: Family, two: Tables, bound: float, size: tuple[int, int], seed: tuple[int, str]) -> GameStudy:
    rng = stream(seed[0], "sampling", "game", family.value)
    return play(pair_of(family, two, bound=bound), rng, answers=size[0], games=size[1])


def _ceilings(game: Game, study: GameStudy) -> list[tuple[str, np.ndarray, bool]]:
    """Return the ceilings over all simulated answers: the certified one, and the printed one where it differs."""
    steps = np.arange(1, len(study.log_odds) + 1)
    if game.mechanism is None:
        epsilon = game.options.answer_epsilon
        curve = ceiling(epsilon, steps)
        name = f"what ε = {numeral(epsilon, 6)} would allow (not promised)"
        return [(name, curve, study.above(curve) == 0)]
    promised = [("certified", game.mechanism.certified.epsilon)]
    if game.mechanism.calibration is Calibration.AS_PRINTED:
        promised.append(("claimed", game.mechanism.claimed.epsilon))
    curves = [
        (f"ceiling, {who} ε = {numeral(epsilon, 4)} an answer", ceiling(epsilon, steps)) for who, epsilon in promised
    ]
    return [(name, curve, study.above(curve) == 0) for name, curve in curves]


def _belief(game: Game, study: GameStudy) -> None:
    asked = game.options.answers
    bold = int(np.argsort(study.log_odds[-1])[study.log_odds.shape[1] // 2])  # a typical game, the same at every j
    order = np.concatenate([[bold], np.delete(np.arange(study.log_odds.shape[1]), bold)])
    order[1:] = order[1:][np.argsort(np.arange(len(order) - 1) * 0.6180339887 % 1)]  # of both tables
    ceilings = [(name, np.concatenate([[0.5], curve[:asked]]), kept) for name, curve, kept in _ceilings(game, study)]
    belief = np.concatenate([np.full((1, len(order)), 0.5), study.belief[:asked, order]])
    figure = game_figure(np.arange(asked + 1.0), belief, ceilings, colour=PosteriorSampler.colour)
    chart(
        figure,
        key="game",
        alt="The adversary's probability for the true table after each answer, in many games.",
        simulates=True,
    )
    left, middle, right = st.columns(3)
    left.metric("Right after these answers", share_text(study.right[asked - 1]))
    error = numeral(100 * study.right_error[asked - 1], 2)
    left.caption(f"± {error}% (standard error), {study.log_odds.shape[1]:,} games")
    low, high = (float(end) for end in game.pair.gain_range)
    most = max(abs(low), abs(high))
    middle.metric("Most one answer can tell", f"ε = {numeral(most, 4)}" if math.isfinite(most) else "no limit")
    claimed = game.mechanism.claimed.epsilon if game.mechanism else math.inf
    broken = most > claimed * (1 + 1e-9)
    middle.caption("of these two tables, exact" + (f"; ✗ only {numeral(claimed, 4)} is claimed" if broken else ""))
    name, curve, _ = _ceilings(game, study)[-1]
    right.metric("Games above the ceiling", share_text(study.above(curve)))
    right.caption(f"at any of {many(len(curve), 'answer')}; {name}")


def _sentence(game: Game, study: GameStudy, needed: NeededAnswers) -> str:
    asked = game.options.answers
    least, most = game.bracket
    right = study.right[asked - 1]
    first = (
        f"After {many(asked, 'answer')} the adversary is right in {whole_percent(right)} of games; "
        f"to be right in {LEVEL:.0%} takes "
    )
    proved = f"between {numeral(math.ceil(least))} and {numeral(math.ceil(most))} by proof"
    if needed.value is None:
        return f"{first}more than {len(study.log_odds):,} answers ({proved})."
    return f"{first}about {needed.value:,} ± {numeral(needed.error, 2)} answers ({proved})."


def printed_number(game: Game) -> float | None:
    """Return the number of answers that Theorem 3 as printed calls enough, where the family is one of the paper's."""
    options, error = game.options, 1 - LEVEL
    if game.mechanism is not None:
        return printed_answers(options.columns * game.mechanism.log_odds_bound, error=error)
    if options.family is Family.BINOMIAL:
        return float(printed_answers_tail(beta_concentration(options.concentration), 1.0, error=error))
    if options.family in CONCENTRATIONS:
        concentration = CONCENTRATIONS[options.family](options.concentration)
        return float(printed_answers_tail(concentration, options.distance, error=error))
    return None


def _needed(game: Game, study: GameStudy, needed: NeededAnswers) -> None:
    st.subheader("How many answers does it take?")
    least, most = game.bracket
    marks = [("least, by proof", least, True), ("most, by proof", most, True)]
    printed = printed_number(game)
    if printed is not None:
        wrong = bool(too_few_answers(printed, least))
        marks.append((f"Theorem 3 as printed{', refuted here' if wrong else ''}", max(1.0, printed), not wrong))
    steps = np.arange(1.0, len(study.right) + 1)
    picked = np.unique(np.round(np.geomspace(1, len(steps), 400)).astype(int)) - 1
    figure = needed_figure(
        steps[picked],
        study.right[picked],
        study.right_error[picked],
        level=LEVEL,
        colour=PosteriorSampler.colour,
        marks=marks,
    )
    chart(
        figure,
        key="needed",
        alt=f"How often the adversary is right over answers; bounds for {LEVEL:.0%}.",
        simulates=True,
    )
    _bounds(game, needed, printed)
    data_and_download(
        lambda: pd.DataFrame({"answers": steps, "right": study.right, "standard error": study.right_error}),
        name="query-game",
        curator_only=False,
        simulates=True,
    )


def _bounds(game: Game, needed: NeededAnswers, printed: float | None) -> None:
    least, most = game.bracket
    columns = st.columns(4)
    columns[0].metric("At least (proved)", numeral(math.ceil(least)))
    columns[1].metric("Simulated", f"{needed.value:,}" if needed.value else f"> {MOST_SIMULATED:,}")
    if needed.value:
        columns[1].caption(f"± {numeral(needed.error, 2)} (standard error)")
    columns[2].metric("At most (proved)", numeral(math.ceil(most)))
    columns[3].metric("Enough, as printed", "none" if printed is None else numeral(math.ceil(printed)))
    columns[3].caption("[Dimitrakakis14] Theorem 3; its condition could at best be necessary.")
    if game.mechanism is not None:
        moved = game.options.columns * game.mechanism.log_odds_bound
        public = plural(numeral(math.ceil(necessary_answers(moved, error=1 - LEVEL))), "answer")
        st.caption(
            f"Whatever the two tables, if they differ in one record: at least {public}, because the region is "
            f"trimmed (L ρ = {numeral(moved)})."
        )
