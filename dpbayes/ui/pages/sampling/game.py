"""Posterior sampling: the query game between two hypothetical tables that differ in one record."""

import math
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpbayes.base.libraries import pd
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
from dpbayes.figures.sampling import adversary_figure, game_figure
from dpbayes.mechanisms import Calibration, PosteriorSampler
from dpbayes.posteriors.smoothness import beta_concentration
from dpbayes.theory.dimitrakakis14.game import (
    Pair,
    adversary_ceiling,
    necessary_answers,
    needed_answers_bracket,
    printed_answers,
    printed_answers_tail,
    too_few_answers,
)
from dpbayes.ui.pages.sampling.details import CONCENTRATIONS, details_section
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.session.options.research import SamplingOptions
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.show import data_and_download, folded, show_refusal

LEVEL = 0.95
MOST_SIMULATED = 4000
"""Answers at most that a game is simulated for when looking for how many are needed."""

DRAWS_AT_ONCE = 1_000_000
MOST_GAMES, LEAST_GAMES = 1000, 50
MOST_ANSWERS = 2000

LEAST_PRINTED = 2 * math.log(2)
"""At this epsilon and below, the paper's omega leaves nothing to sample for a binary column."""

HELP = {
    Family.NETWORK: "Binary columns; the record changes all of them. The prior is trimmed for the ε of one answer.",
    Family.BINOMIAL: "One binary column with a Beta prior that is not trimmed.",
    Family.EXPONENTIAL: "Positive values with an exponential distribution of unknown rate.",
    Family.LAPLACE: "Distances from a known centre, exponential with rate 1/scale.",
    Family.NORMAL: "Values with variance 1 and an unknown mean.",
}


@dataclass(frozen=True, eq=False)
class Game:
    """The query game: the options, the pair of posteriors, and the trimmed mechanism if there is one."""

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
                f"The paper's omega = exp(-epsilon/2) leaves nothing to sample from at epsilon = "
                f"{numeral(epsilon, 6)}. Choose an epsilon of one answer above {numeral(LEAST_PRINTED, 4)}, "
                "or the proved calibration."
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
    """Show the game in a folded part, which a link or a story may open."""
    _open_where_linked(chosen.settings)
    title = "Query game: how many answers reveal which of two tables is used?"
    with folded(title, key="game.open") as is_open:
        if is_open:
            _opened(chosen)


def _open_where_linked(settings: Settings) -> None:
    """Open the game at every new step of a story, and where a link sets one of its numbers."""
    step = (settings.story, settings.step) if settings.story else None
    is_new = st.session_state.get("game.step") != step if step else "game.open" not in st.session_state
    if is_new and (step or any(name.startswith("sampling.") for name, _ in settings.parameters)):
        st.session_state["game.open"] = True
    st.session_state["game.step"] = step


def _opened(chosen: Chosen) -> None:
    """Play the game: chart first, controls beside it."""
    options: SamplingOptions = chosen.options("sampling")
    place = st.container(key="game.told")
    controls.parameter_control("sampling.family")
    st.caption(HELP[options.family])
    left, right = st.columns([1, 2], gap="medium")
    game = None
    with right:
        try:
            game = chosen_game(options, chosen.parameter("calibration"))
        except InputError as error:
            show_refusal(error)
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
            "An attacker knows both tables and has to decide which table gives the answers. Before the first answer "
            "both tables are equally probable. The tables are hypothetical and the games are simulated."
        )
    with st.container(key="game.needed"):
        _needed(game, study, needed)
    details_section(game.options, game.pair, game.mechanism)


def _controls(options: SamplingOptions) -> None:
    controls.parameter_control("sampling.answers")
    st.button("Get one more answer", disabled=options.answers >= MOST_ANSWERS, on_click=_ask)
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
    set_parameter("sampling.answers", min(MOST_ANSWERS, Chosen.now().options("sampling").answers + 1))


def games_of(game: Game, *, seed: int) -> GameStudy:
    """Return games with the chosen number of answers and, if possible, the needed number."""
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


@session_cache(4, spinner="Playing …")
def _played(family: Family, two: Tables, bound: float, size: tuple[int, int], seed: tuple[int, str]) -> GameStudy:
    rng = stream(seed[0], "sampling", "game", family.value)
    return play(pair_of(family, two, bound=bound), rng, answers=size[0], games=size[1])


def _ceilings(game: Game, study: GameStudy) -> list[tuple[str, np.ndarray, bool]]:
    """Return the ceilings over all simulated answers: the proved one, and the stated one if it differs."""
    steps = np.arange(1, len(study.log_odds) + 1)
    if game.mechanism is None:
        epsilon = game.options.answer_epsilon
        curve = adversary_ceiling(epsilon, steps)
        name = f"upper bound if ε were {numeral(epsilon, 6)} (no guarantee)"
        return [(name, curve, study.above(curve) == 0)]
    promised = [("proved", game.mechanism.certified.epsilon)]
    if game.mechanism.calibration is Calibration.AS_PRINTED:
        promised.append(("stated", game.mechanism.claimed.epsilon))
    curves = [
        (f"upper bound at the {who} ε = {numeral(epsilon, 4)} per answer", adversary_ceiling(epsilon, steps))
        for who, epsilon in promised
    ]
    return [(name, curve, study.above(curve) == 0) for name, curve in curves]


def _belief(game: Game, study: GameStudy) -> None:
    answers = game.options.answers
    bold = int(np.argsort(study.log_odds[-1])[study.log_odds.shape[1] // 2])  # a typical game, the same at every j
    order = np.concatenate([[bold], np.delete(np.arange(study.log_odds.shape[1]), bold)])
    order[1:] = order[1:][np.argsort(np.arange(len(order) - 1) * 0.6180339887 % 1)]  # of both tables
    ceilings = [(name, np.concatenate([[0.5], curve[:answers]]), kept) for name, curve, kept in _ceilings(game, study)]
    belief = np.concatenate([np.full((1, len(order)), 0.5), study.belief[:answers, order]])
    figure = game_figure(np.arange(answers + 1.0), belief, ceilings, colour=PosteriorSampler.colour)
    chart(
        figure,
        key="game",
        alt="The attacker's belief in the true table after each answer, in many games.",
        simulates=True,
    )
    left, middle, right = st.columns(3)
    left.metric("Games won after these answers", share_text(study.right[answers - 1]))
    error = numeral(100 * study.right_error[answers - 1], 2)
    left.caption(f"± {error}% standard error, {study.log_odds.shape[1]:,} games")
    low, high = (float(end) for end in game.pair.gain_range)
    most = max(abs(low), abs(high))
    middle.metric(
        "Largest privacy loss of one answer", f"ε = {numeral(most, 4)}" if math.isfinite(most) else "no limit"
    )
    claimed = game.mechanism.claimed.epsilon if game.mechanism else math.inf
    broken = most > claimed * (1 + 1e-9)
    middle.caption("exact, for these two tables" + (f"; ✗ the paper states {numeral(claimed, 4)}" if broken else ""))
    name, curve, _ = _ceilings(game, study)[-1]
    right.metric("Games above the bound", share_text(study.above(curve)))
    right.caption(f"after any of {many(len(curve), 'answer')}; {name}")


def _sentence(game: Game, study: GameStudy, needed: NeededAnswers) -> str:
    answers = game.options.answers
    right = whole_percent(study.right[answers - 1])
    first = f"After {many(answers, 'answer')} the attacker wins {right} of the games; winning {LEVEL:.0%} takes"
    if needed.value is None:
        return f"{first} more than {len(study.log_odds):,} answers."
    return f"{first} about {many(needed.value, 'answer')}."


def printed_number(game: Game) -> float | None:
    """Return the number of answers that suffices by the paper's Theorem 3, where the family is one of the paper's."""
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
    st.subheader("Answers needed")
    least, most = game.bracket
    marks = [("at least (proved)", least, True), ("at most (proved)", most, True)]
    printed = printed_number(game)
    if printed is not None:
        wrong = bool(too_few_answers(printed, least))
        marks.append((f"Theorem 3 (paper){', refuted here' if wrong else ''}", max(1.0, printed), not wrong))
    steps = np.arange(1.0, len(study.right) + 1)
    picked = np.unique(np.round(np.geomspace(1, len(steps), 400)).astype(int)) - 1
    figure = adversary_figure(
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
        alt=f"Share of games won against the number of answers; bounds for {LEVEL:.0%}.",
        simulates=True,
    )
    _bounds(game, needed, printed)
    data_and_download(
        lambda: pd.DataFrame({"answers": steps, "games won": study.right, "standard error": study.right_error}),
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
        columns[1].caption(f"± {numeral(needed.error, 2)} standard error")
    columns[2].metric("At most (proved)", numeral(math.ceil(most)))
    columns[3].metric("Enough (paper)", "none" if printed is None else numeral(math.ceil(printed)))
    columns[3].caption("[Dimitrakakis14] Theorem 3. Its condition is not sufficient.")
    if game.mechanism is not None:
        moved = game.options.columns * game.mechanism.log_odds_bound
        public = plural(numeral(math.ceil(necessary_answers(moved, error=1 - LEVEL))), "answer")
        st.caption(
            f"For any two tables that differ in one record, at least {public} are needed, because the region is "
            f"trimmed (L ρ = {numeral(moved)})."
        )
