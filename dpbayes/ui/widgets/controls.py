"""Controls that show and change the settings, which are the only state.

Streamlit's `persist_state` keeps the value of one widget. A setting may have widgets on several pages, and a refused
value leaves the setting unchanged.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

import streamlit as st

from dpbayes.base import terms
from dpbayes.base.parameters import Choice, Parameter
from dpbayes.base.text import escaped, letters, typed
from dpbayes.base.validation import InputError
from dpbayes.posteriors.prior_rules import PriorKind, PriorRule, rule_for
from dpbayes.ui.session.current import change, current, is_new_page, set_parameter
from dpbayes.ui.session.link import READERS, read_parameter
from dpbayes.ui.session.settings import PARAMETERS, parameter_title

FEW = 5
"""The largest number of options without a label that are a row of buttons; more options are a list."""

LINE, PADDING = 30, 4
"""Letters of a row of buttons that fit beside a board, and what the edges of a button take of them."""

PSEUDO_COUNT = "Prior pseudo-count per cell"
SAMPLE_SIZE = "Weight of the prior, in records"

_PRIOR_KEY = "choice.prior.kind"

_GROUPED = re.compile(r"\d{1,3}(,\d{3})+")
_POWER, _RAISED = re.compile(r"^10\^?(?=-)"), str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def mirror(key: str, value: object) -> None:
    """Let the widget with this key show `value`, also instead of a refused text.

    A widget that already shows the value is not set, because this would move it under the hand. On a new page no widget
    shows a value, also where the former page had one with this key.
    """
    if is_new_page() or key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def _attempt(key: str, kept: str, text: str, do: Callable[[str], object]) -> None:
    """Apply a typed text; if it is refused, keep the old value and store the message.

    Streamlit also reports a change when a box has come back with the text that Python gave it, or with none. A default
    must not become a choice by that, and stay when its mechanism is left.
    """
    try:
        if text.strip() not in ("", kept):
            do(text)
        st.session_state.pop(f"{key}.refusal", None)
    except InputError as error:
        st.session_state[f"{key}.refusal"] = (str(error), kept)


def refusal(key: str, kept: str) -> None:
    """Show why a typed text was refused, as long as the value, `kept`, is still the same."""
    message, since = st.session_state.get(f"{key}.refusal", ("", ""))
    if message and since == kept:  # a changed value, from any control, removes the message
        st.caption(f":red[{escaped(message)}]{f' The value is still {escaped(kept)}.' if kept else ''}")


def text_field(label: str, field: str, *, prefix: str = "", help: str | None = None) -> None:
    """Show a settings field as a text box, which refuses invalid text with a message.

    The box omits a `prefix` of the field's text. Numbers are whole, and may have thousands separators.
    """

    def apply(text: str) -> None:
        if text.strip():  # an emptied box, which a browser also sends of one that is new, keeps its value
            change(**{field: READERS[field](prefix + plain_number(text, whole=True))})

    box(label, field, _number_text(getattr(current(), field)).removeprefix(prefix), apply, help=help)


def plain_number(text: str, *, whole: bool = False) -> str:
    """Return a typed number in the form that all readers take: "10^-6" and "10⁻⁶" are "1e-6".

    Only a `whole` number may have thousands separators. Another comma stays, and the reader refuses it: "3,5" is never
    35.
    """
    if whole and _GROUPED.fullmatch(text.strip()):
        text = text.replace(",", "")
    return _POWER.sub("1e", text.strip().translate(_RAISED))


def box(label: str, name: str, shown: str, apply: Callable[[str], object], **more: Any) -> None:
    """Show a text box that applies a typed text. After an InputError, its message is shown and the old text stays."""
    key = f"box.{name}"
    mirror(key, shown)
    st.text_input(label, key=key, on_change=lambda: _attempt(key, shown, st.session_state[key], apply), **more)
    if more.get("label_visibility") != "collapsed":
        refusal(key, shown)


def choice(
    label: str,
    field: str,
    options: Sequence[Any],
    *,
    default: object = None,
    format_func: Callable[[Any], str] = str,
) -> None:
    """Show a settings field as a drop-down list. For a value not in it, `default` or the first option is shown."""
    key = f"choice.{field}"
    value = getattr(current(), field)
    mirror(key, value if value in options else default or options[0])
    st.selectbox(
        label,
        options,
        key=key,
        format_func=format_func,
        on_change=lambda: change(**{field: st.session_state[key]}),
    )


def parameter_control(
    name: str,
    *,
    default: object = None,
    reach: Sequence[Any] | None = None,
    label: Literal["visible", "collapsed"] = "visible",
    described: Choice | None = None,
) -> None:
    """Show the control of one parameter, or of a page's option `page.name`, as its annotation describes it.

    `reach` are the stops of its slider, or its options, if other choices restrict these. A collapsed `label` of a
    choice is only read by screen readers. A choice can be `described` otherwise.
    """
    parameter = described or PARAMETERS[name]
    if isinstance(parameter, Choice):
        _choice_parameter(name, parameter, default, label, list(reach or parameter.options))
    else:
        _number_parameter(name, default, parameter.stops if reach is None else reach)


def _choice_parameter(
    name: str, parameter: Choice, default: object, label: Literal["visible", "collapsed"], options: list[Any]
) -> None:
    key, value = f"parameter.{name}", current().parameter(name, default)
    value = value if value in options else default
    mirror(key, value)
    shared: dict[str, Any] = {
        "key": key,
        "format_func": parameter.label,
        "help": parameter.description or None,
        "label_visibility": label,
        "on_change": lambda: _set_other(name, st.session_state[key], value),
    }
    letters_needed = sum(len(parameter.label(option)) + PADDING for option in options)
    if letters_needed <= LINE or (label == "collapsed" and len(options) <= FEW):  # which have the whole page
        st.segmented_control(_title(name), options, required=True, wrap=True, **shared)
    else:
        st.selectbox(_title(name), options, **shared)


def _set_other(name: str, value: object, shown: object) -> None:
    """Set a parameter unless its control has come back with the value that was shown, or with none; see `_attempt`."""
    if value not in (None, shown):
        set_parameter(name, value)


def _title(name: str) -> str:
    title = parameter_title(name)
    return title[0].upper() + title[1:]


def _number_parameter(name: str, default: object, reach: Sequence[float]) -> None:
    """Show one number as a slider, logarithmic if its parameter is, and as a box for any value in range."""
    parameter, title, key = PARAMETERS[name], _title(name), f"parameter.{name}"
    assert isinstance(parameter, Parameter)
    value = current().parameter(name, default)
    mirror(key, value)
    label = f"{title} ({letters(parameter.symbol)})" if parameter.symbol else title
    shown, is_whole = _number_text(value), parameter.whole
    left, right = st.columns([5, 3], vertical_alignment="bottom", gap="small")
    with left:
        st.select_slider(
            label,
            sorted({*reach, value}),  # the present value is always a stop
            key=key,
            format_func=_number_text,
            help=parameter.description or None,
            on_change=lambda: _set_other(name, st.session_state[key], value),
        )
    with right:
        box(
            f"{title} as a number",
            name,
            shown,
            lambda text: set_parameter(name, read_parameter(name, plain_number(text.strip() or shown, whole=is_whole))),
            label_visibility="collapsed",
        )
    refusal(f"box.{name}", shown)


def _number_text(value: str | float) -> str:
    return f"{value:,}" if isinstance(value, int) else typed(value) if isinstance(value, float) else value


# The prior


def prior_control(*kinds: Any) -> None:
    """Offer the rules of a prior, and the number of the chosen rule. Another rule begins with its usual number.

    `kinds` are the classes of mechanisms on the page: a caption names those that use another prior.
    """
    prior = current().prior
    mirror(_PRIOR_KEY, prior.kind)
    st.selectbox(
        "Prior",
        list(PriorKind),
        key=_PRIOR_KEY,
        format_func=lambda kind: kind.label,
        help=terms.PRIOR,
        on_change=lambda: _set_prior_kind(st.session_state[_PRIOR_KEY]),
    )

    def apply(text: str) -> None:
        change(prior=current().prior.with_size(plain_number(text)))

    if prior.kind is PriorKind.SYMMETRIC:
        box(PSEUDO_COUNT, "prior", typed(prior.size), apply, help=terms.PSEUDO_COUNT)
    else:
        box(SAMPLE_SIZE, "prior", typed(prior.size), apply, help=terms.SAMPLE_SIZE)
    for kind in kinds:
        if (own := rule_for(kind, prior)) != prior:
            st.caption(
                f"{kind.label} uses {own.title} instead of a capped prior, because smaller parameters increase its "
                "error at the same ε."
            )


def _set_prior_kind(kind: PriorKind) -> None:
    if kind is not current().prior.kind:  # else the size of the prior would be lost; see `_attempt`
        change(prior=PriorRule.usual(kind))
