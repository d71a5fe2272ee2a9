"""The controls of the prior: its rule, and the pseudo-count or the equivalent sample size that the rule needs."""

from typing import Any

import streamlit as st

from dpbayes.base import terms
from dpbayes.base.text import typed
from dpbayes.mechanisms.base import rule_for
from dpbayes.posteriors.prior_rules import PriorKind, PriorRule
from dpbayes.ui.session.current import change, current
from dpbayes.ui.widgets import controls

PSEUDO_COUNT = "Prior pseudo-count per cell"
SAMPLE_SIZE = "Equivalent sample size N′"

_KEY = "choice.prior.kind"


def prior_control(*kinds: Any) -> None:
    """Offer the rules of a prior, and the number of the chosen rule. Another rule begins with its usual number.

    `kinds` are the classes of mechanisms on the page: a caption names those that use another prior.
    """
    prior = current().prior
    controls.mirror(_KEY, prior.kind)
    st.selectbox(
        "Prior",
        list(PriorKind),
        key=_KEY,
        format_func=lambda kind: kind.label,
        help=terms.PRIOR,
        on_change=lambda: change(prior=PriorRule.usual(st.session_state[_KEY])),
    )

    def apply(text: str) -> None:
        change(prior=current().prior.with_size(_plain(text)))

    if prior.kind is PriorKind.SYMMETRIC:
        controls.box(PSEUDO_COUNT, "prior", typed(prior.size), apply, help=terms.PSEUDO_COUNT)
    else:
        controls.box(SAMPLE_SIZE, "prior", typed(prior.size), apply, help=terms.SAMPLE_SIZE)
    for kind in kinds:
        if (own := rule_for(kind, prior)) != prior:
            st.caption(
                f"{kind.label} uses {own.title} instead of a capped prior, because smaller parameters increase its "
                "error at the same ε."
            )


def pseudo_count_control() -> None:
    """Offer the pseudo-count of every cell, for theorems about symmetric priors."""

    def apply(text: str) -> None:
        change(prior=PriorRule.symmetric().with_size(_plain(text)))

    controls.box(PSEUDO_COUNT, "prior", typed(current().prior.pseudo_count), apply, help=terms.PSEUDO_COUNT)


def _plain(text: str) -> str:
    """Return a typed number without thousands separators."""
    return text.replace(",", "").strip()
