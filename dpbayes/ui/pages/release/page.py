"""The Release page: the picked cell's picture and how far releases are from exact; controls and details beside it."""

from contextlib import suppress

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.estimates import near_one
from dpbayes.base.text import apart, escaped, numeral
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import ReleaseStudy, density, density_grid, drawn_values, interval_coverage
from dpbayes.figures.posterior import density_figure, draws_figure
from dpbayes.model.network import assignment
from dpbayes.ui.pages.release.controls import has_asked, has_picked, lead_control, picked, question, release_controls
from dpbayes.ui.pages.release.details import LEVEL, release_details, simulate
from dpbayes.ui.pages.release.make import make_release
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.show import data_and_download, inside, refusal

SHOWN_CURVES = 16


def release_page(chosen: Chosen) -> bool:
    """Show the picture first: it moves with epsilon, all else follows when the hand rests."""
    page = places()
    study = page.first(_moving)
    with page.controls:
        release_controls(chosen)
    if study is None:
        return False
    row, cell = picked(chosen)
    with page.picture:
        _measures(chosen, study, row, cell)
    if chosen.is_curator:
        make_release(chosen)
    st.divider()
    return release_details(chosen, study, cell)


def _moving(page: Places, chosen: Chosen) -> ReleaseStudy | None:
    _, cell = picked(chosen)
    with page.picture:
        study = _picture(chosen, cell)
    lead_control(page, chosen)
    if study is not None:
        page.say(_headline(chosen, study, cell))
    return study


def _headline(chosen: Chosen, study: ReleaseStudy, cell: int) -> str:
    """Speak of all rows; of the person's question and of the row that she picked, where she did, after that."""
    start = f"With {escaped(str(study.release.guarantee))}, "
    if not chosen.is_curator:
        says = [f"{name} is about {_probability(value)}" for name, value in _said(chosen, study, cell).items()]
        whole = f"this release gives all {chosen.network.cell_count:,} probabilities of this network"
        return f"{start}{whole}; it says that {', and that '.join(says)}."
    moved = f"the probabilities of this network by {numeral(study.shift.mean(), 2)} on average"
    parts = [moved, *(f"{name} by {numeral(value, 2)}" for name, value in _moved(chosen, study, cell).items())]
    return f"{start}a {inside(study.release.mechanism)} release moves {'; '.join(parts)}."


def _moved(chosen: Chosen, study: ReleaseStudy, cell: int) -> dict[str, float]:
    """Return how far releases are from exact on average in what the person asked for and picked, by its name."""
    moved = {}
    if answers := _answers(chosen, study):
        exact, private = answers
        moved[f"{_question_name(chosen)}, your question,"] = float(np.abs(private - exact).mean())
    if has_picked(chosen):
        name = escaped(f"P({chosen.network.cell_label(cell)})")
        moved[f"{name}, which you picked,"] = float(study.shifts[:, cell].mean())
    return moved


def _said(chosen: Chosen, study: ReleaseStudy, cell: int) -> dict[str, float]:
    """Return what the first release says of what the person asked for and picked, else of what is in the picture."""
    said, net = {}, chosen.network
    if answers := _answers(chosen, study):
        node = net.index(question(chosen)[0])
        state = net.telling_state(node)
        said[f"{_question_name(chosen, net.states[node][state])}, your question,"] = float(answers[1][0, state])
    if has_picked(chosen) or not said:
        why = "which you picked" if has_picked(chosen) else "in the picture"
        said[f"{escaped(f'P({net.cell_label(cell)})')}, {why},"] = float(study.private[0, cell])
    return said


def _answers(chosen: Chosen, study: ReleaseStudy) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the answers to the person's question; none if she has none, or it has no answer: that is said below."""
    if not has_asked(chosen):
        return None
    with suppress(InputError):
        return study.query(*question(chosen))
    return None


def _question_name(chosen: Chosen, state: str = "") -> str:
    target, given = question(chosen)
    asked = assignment(target, state) if state else target
    known = ", ".join(assignment(*pair) for pair in given.items())
    return escaped(f"P({asked} | {known})" if known else f"P({asked})")


def _probability(value: float) -> str:
    return near_one(value) if value > 0.99 else numeral(value, 2)


def _picture(chosen: Chosen, cell: int) -> ReleaseStudy | None:
    """Show the densities and return the releases behind them; a setting that cannot be released gets its sentence."""
    try:
        study = simulate(chosen, chosen.mechanism)
    except InputError as error:
        refusal(error)
        return None
    name, zoom, colour = chosen.network.cell_label(cell), chosen.settings.zoom, chosen.mechanism.colour
    beside = " beside the exact density." if chosen.is_curator else "."
    if study.is_posterior:
        figure = density_figure(*_curves(chosen, study, cell), name=name, zoom=zoom, colour=colour)
        chart(figure, key="density", alt=f"Density of the private posterior of P({name}){beside}")
    else:
        figure = draws_figure(*_draws(chosen, study, cell), name=name, zoom=zoom, colour=colour)
        chart(figure, key="density", alt=f"The values of P({name}) that this release holds{beside}")
    return study


def _curves(chosen: Chosen, study: ReleaseStudy, cell: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return theta, the private densities and the exact one; the recipient gets one release and nothing exact."""
    first = study.posterior.part(0)
    if not chosen.is_curator:
        theta = density_grid([first], cell)
        return theta, density(study.posterior.part(slice(0, 1)), cell, theta), None
    theta = density_grid([study.exact, first], cell)
    return theta, density(study.posterior.part(slice(0, SHOWN_CURVES)), cell, theta), density(study.exact, cell, theta)


def _draws(
    chosen: Chosen, study: ReleaseStudy, cell: int
) -> tuple[np.ndarray, np.ndarray | None, tuple[np.ndarray, np.ndarray] | None]:
    """Return the first release's values, all possible ones and the exact density; the recipient gets the first."""
    drawn = drawn_values(study, cell)
    if not chosen.is_curator:
        return drawn[0], None, None
    theta = density_grid([study.exact], cell)
    return drawn[0], drawn.ravel(), (theta, density(study.exact, cell, theta))


def _measures(chosen: Chosen, study: ReleaseStudy, row: int, cell: int) -> None:
    """Say how far the releases are from exact, for the curator; offer the numbers."""
    controls.toggle("Zoom to the posteriors", "zoom")
    if chosen.is_curator:
        _compared(study, row)
        if study.is_posterior:
            _of_posteriors(study, row, cell)
        st.caption("Curator only: not private.")
    data_and_download(lambda: _curve_frame(chosen, study, cell), name="density", curator_only=chosen.is_curator)


def _compared(study: ReleaseStudy, row: int) -> None:
    """Show what every mechanism has, at the same place and in the same units whichever it is."""
    left, middle, right = st.columns(3)
    mean, most = apart(float(study.shift.mean()), float(np.quantile(study.shift, 0.9)), most=3)
    left.metric(
        "Mean difference, all rows",
        mean,
        help="|private - exact|, mean over all probabilities of all rows and over releases. "
        f"In nine of ten releases the mean is at most {most}.",
    )
    what = "KL(exact || private) between distributions of the next record's state, mean over releases."
    middle.metric("Prediction KL, all rows, nats", numeral(study.predictive_kl.mean()), help=f"{what} The rows' sum.")
    right.metric("Prediction KL, this row, nats", numeral(study.predictive_kl_rows[:, row].mean()), help=what)


def _of_posteriors(study: ReleaseStudy, row: int, cell: int) -> None:
    """Show what only a release that holds posteriors has; its KL is of whole laws, and no other release's compares."""
    st.markdown("**Of the released posteriors**, which not every mechanism has:")
    left, middle, right = st.columns(3)
    what = "KL(exact || private) between the posteriors of the probabilities, mean over releases."
    error = f"Standard error {numeral(study.kl_error, 1)}."
    left.metric("Posterior KL, all rows, nats", numeral(study.kl.mean()), help=f"{what} The rows' sum. {error}")
    middle.metric("Posterior KL, this row, nats", numeral(study.kl_rows[:, row].mean()), help=what)
    coverage = interval_coverage(study.exact, study.posterior, cell, LEVEL)
    right.metric(
        f"Coverage of {LEVEL:.0%} intervals",
        f"{coverage.mean():.0%}",
        help="How much of this cell's exact posterior lies in the private credible interval, on average.",
    )


def _curve_frame(chosen: Chosen, study: ReleaseStudy, cell: int) -> pd.DataFrame:
    if not study.is_posterior:
        return pd.DataFrame({"draw of this release": drawn_values(study, cell)[0]})
    theta, curves, exact = _curves(chosen, study, cell)
    return pd.DataFrame({"theta": theta, "private": curves[0]} | ({} if exact is None else {"exact": exact}))
