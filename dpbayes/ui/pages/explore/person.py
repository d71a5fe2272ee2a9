"""The chosen epsilon for one person: how far an attacker's belief about their record can rise, and does."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.audit.registry import audit_of
from dpbayes.audit.risk import LINKED, RARE, Between, Risk, belief_sentence, risk, sentences
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import escaped, in_hundred, percent
from dpbayes.figures.explore import RaisedBeliefs, risk_figure
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.board import picture
from dpbayes.ui.widgets.show import folded, inside, sentence_instead

_BEFORE = np.linspace(0.0, 1.0, 201)


def in_short(chosen: Chosen) -> str:
    """Return in one line how far a belief about one person can rise."""
    options = chosen.options("release")
    promise = chosen.mechanism.certified
    return escaped(belief_sentence(promise, suspicion=options.suspicion, releases=options.releases))


def one_person(chosen: Chosen) -> None:
    """Show the risk for one person under the guarantee and the mechanism in a folded part; it is public."""
    with folded("Meaning of this epsilon for one person", key="person.open") as is_open:
        if is_open:
            left, right = st.columns(2)
            with left:
                controls.parameter_control("release.suspicion")
            with right:
                controls.parameter_control("release.releases")
            if audit_of(chosen.mechanism).outputs is not None:
                st.markdown(f"{in_short(chosen)} This follows from the guarantee: the worst-case loss is not known.")
                return
            with sentence_instead():
                _show(_risk_of(chosen), chosen)


def _show(limits: Risk, chosen: Chosen) -> None:
    releases = _of_releases(limits)
    left, middle, right = st.columns(3)
    is_certain = not limits.guarantee.delta
    left.metric(
        "Largest belief" if is_certain else "Largest belief by ε",
        _at_most(limits.ceiling),
        help=f"The highest value that an attacker's belief of {percent(limits.suspicion)} can reach after {releases}."
        + ("" if is_certain else " With probability delta the belief can rise further: see the sentences below."),
    )
    middle.metric(
        "Correct guesses, this mechanism",
        _between(limits.guess),
        help="The largest share of correct guesses of an attacker between two equally likely possibilities.",
    )
    right.metric(
        "Correct guesses, any mechanism",
        _at_most(limits.promised),
        help=f"The same bound for every mechanism with {limits.guarantee}, after {releases}.",
    )
    st.markdown(sentences([limits]))
    _picture(limits, chosen)
    st.caption(f"{LINKED} The records are not used.")


def _picture(limits: Risk, chosen: Chosen) -> None:
    at, rare = limits.suspicion, f"{1 - RARE:.0%}"
    kept = np.isfinite(limits.rare)
    usual = limits.usual(_BEFORE) if kept else np.full(len(_BEFORE), np.nan)
    beliefs = RaisedBeliefs(
        before=_BEFORE,
        most=limits.raised(_BEFORE),
        usual=usual,
        most_name="at most" if not limits.guarantee.delta else "at most, except with probability δ",
        usual_name=f"at most, in {rare} of cases ({inside(chosen.mechanism.label)})",
    )
    marks = (at, limits.ceiling, float(limits.usual(at)) if kept else np.nan)
    picture(
        risk_figure(beliefs, chosen=marks, colour=chosen.mechanism.colour),
        key="person",
        title="How much can a belief about one person rise?",
        alt=f"Beliefs before and after {_of_releases(limits)}: {percent(at)} becomes at most "
        f"{_at_most(limits.ceiling)}.",
    )


def _of_releases(limits: Risk) -> str:
    return "one release" if limits.releases == 1 else f"{limits.releases:,} releases"


def _at_most(probability: float) -> str:
    return f"{in_hundred(probability)}%"


def _between(guess: Between) -> str:
    """One number where both ends are the same in the digits shown."""
    low, high = in_hundred(guess.low), in_hundred(guess.high)
    return f"{high}%" if low == high else f"{low} to {high}%"


def _risk_of(chosen: Chosen) -> Risk:
    """Return the risk of the chosen mechanism. Errors: those of `risk`."""
    mechanism, options = chosen.mechanism, chosen.options("release")
    values = tuple(getattr(mechanism, name) for name in parameters_of(type(mechanism)))
    key = (type(mechanism).__name__, values, chosen.network, chosen.settings.prior)
    return _risk(key, chosen.counts.n, options.releases, options.suspicion, mechanism)


@session_cache(16, spinner="Composing losses …")
def _risk(key: Hashable, n: int, releases: int, suspicion: float, _mechanism: Any) -> Risk:
    return risk(_mechanism, n=n, releases=releases, suspicion=suspicion)
