"""The dashboard's pictures from Python, as Plotly figures: `dp.plot.posteriors(release, "A=yes", exact=exact)`.

A figure shows itself in a notebook; `figure.write_html("posterior.html")` saves it. Each function needs Plotly, which
the extra `app` installs.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpbayes.audit.report import AuditReport
from dpbayes.base.privacy import Guarantee
from dpbayes.base.validation import InputError, brief, type_checked
from dpbayes.experiments.accuracy.methods import METHODS, methods_for
from dpbayes.experiments.accuracy.plan import AccuracyPlan, epsilon_grid
from dpbayes.experiments.accuracy.study import accuracy_study
from dpbayes.experiments.releases import density
from dpbayes.figures.accuracy import accuracy_figure
from dpbayes.figures.audit import privacy_curve_figure
from dpbayes.figures.dag import dag_figure, layered_positions
from dpbayes.figures.posterior import density_figure, density_grid
from dpbayes.figures.style import PlotlyFigure
from dpbayes.mechanisms import PRIVATE
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.mechanisms.release import Release, SampledCpts
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network, assignment
from dpbayes.posteriors.dirichlet import Dirichlets

__all__ = ["accuracy", "audit", "network", "posteriors"]


@type_checked
def posteriors(
    release: Any,
    cell: str,
    *,
    exact: Dirichlets | None = None,
    zoom: bool = True,
) -> PlotlyFigure:
    """Draw the posterior density of one probability given a release, as *Explore* does.

    If the release states its noise, the noise-aware density is drawn, and the naive one dashed. Of sampled CPTs, the
    samples are drawn.

    Args:
        release: One release, simulated or real.
        cell: The name of the probability: "dysp=yes | bronc=yes, either=no".
        exact: The exact posterior, for the curator.
        zoom: Whether the axis shows only where the density is.

    Returns:
        A Plotly figure.

    Raises:
        InputError: No probability has this name, the release is a batch, or Plotly is not installed.

    Example:
        >>> network, cpts = dp.load_named("asia")
        >>> rng = np.random.default_rng(1)
        >>> counts = dp.count(network, dp.sample_dataset(network, cpts, 1000, rng))
        >>> release = dp.LaplaceUpdates(prior=network, epsilon=1).simulate(counts, rng)
        >>> figure = dp.plot.posteriors(release, "smoke=yes")
        >>> [trace.name for trace in figure.data]
        ['private, noise-aware', 'private, naive']
    """
    release = getattr(release, "tables", release)
    if not isinstance(release, Release):
        raise InputError(
            f"release must be what a mechanism or dp.release returns, not {brief(type(release).__name__)}."
        )
    outcome = release.outcome
    if isinstance(outcome, SampledCpts):
        return _samples(outcome, cell, exact, zoom=zoom)
    if outcome.updates.ndim != 1:
        raise InputError("The release is a batch of releases. Draw one of them: release.part(0).")
    net, naive = outcome.prior.network, outcome.posterior
    if exact is not None and exact.network != net:
        raise InputError("exact is the posterior of another network. Count the table for release.posterior.network.")
    place = _cell_called(net, cell)
    shapes = [(p.alpha[place], p.rest_of(place)) for p in (exact, naive) if p is not None]
    if release.tells_noise:
        aware = release.noise_aware_cells(np.array([place]))
        theta = density_grid(shapes, within=(float(aware.mean[0]), float(aware.sd[0])))
        private = {
            "private, noise-aware": np.exp(aware.log_density(theta[:, None]))[:, 0],
            "private, naive": density(naive, place, theta),
        }
    else:
        theta = density_grid(shapes)
        private = {"private (this release)": density(naive, place, theta)}
    curator = None if exact is None else density(exact, place, theta)
    return density_figure(theta, private, exact=curator, name=net.cell_label(place), zoom=zoom).to_plotly()


@type_checked
def network(net: Network) -> PlotlyFigure:
    """Draw a network: parents above children, as the *Network* page places them.

    Args:
        net: The network.

    Returns:
        A Plotly figure.

    Raises:
        InputError: Plotly is not installed.

    Example:
        >>> figure = dp.plot.network(dp.chain(3))
        >>> len(figure.layout.annotations)
        2
    """
    return dag_figure(layered_positions(net.names, net.edges), net.edges).to_plotly()


@type_checked
def accuracy(
    net: Network,
    data: Dataset,
    target: str,
    *,
    mechanisms: Sequence[type] = PRIVATE,
    epsilons: Sequence[float] = epsilon_grid(0.1, 100, points=13),
    repeats: int = 50,
) -> PlotlyFigure:
    """Draw how accurately each mechanism's release predicts a column, against epsilon, as *Lab* does.

    The figure is computed from the true records: it is not private.

    Args:
        net: The network.
        data: The table. Each repeat takes one half to train and the other half to test.
        target: The column to predict.
        mechanisms: The classes of the mechanisms, such as `[dp.LaplaceUpdates]`; those that do not fit are left out.
        epsilons: The values of epsilon.
        repeats: The number of splits.

    Returns:
        A Plotly figure.

    Raises:
        InputError: The target is unknown or has one state, the table does not fit, or Plotly is not installed.

    Example:
        >>> network, cpts = dp.load_named("asia")
        >>> data = dp.sample_dataset(network, cpts, 500, np.random.default_rng(1))
        >>> figure = dp.plot.accuracy(network, data, "bronc", epsilons=[0.1, 1, 10], repeats=2)
        >>> figure.layout.xaxis.title.text
        'privacy loss ε'
    """
    if not mechanisms or set(mechanisms).difference(PRIVATE):
        raise InputError("mechanisms must be classes of dp.MECHANISMS but dp.Exact, such as [dp.LaplaceUpdates].")
    among = [method for method in METHODS.values() if method.kind in (None, *mechanisms)]
    plan = AccuracyPlan(
        network=net,
        target=target,
        source=data,
        epsilons=tuple(epsilons),
        methods=methods_for(net, (Calibration.CERTIFIED,), among=among),
        training=max(1, data.n // 2),
        repeats=repeats,
    )
    return accuracy_figure(accuracy_study(plan).curves, plan.grid).to_plotly()


@type_checked
def audit(report: AuditReport, *, promise: Guarantee | None = None) -> PlotlyFigure:
    """Draw the privacy curve of an audit, delta against epsilon, with the stated guarantee.

    Args:
        report: What `dp.audit_report` returns, with epsilons for the curve.
        promise: The guarantee to compare with; without it, the stated one.

    Returns:
        A Plotly figure. The curve is red where it exceeds the promise.

    Raises:
        InputError: Plotly is not installed.

    Example:
        >>> mechanism = dp.LaplaceUpdates(prior=dp.chain(3), epsilon=1)
        >>> report = dp.audit_report(mechanism, n=100, epsilons=np.linspace(0, 1.5, 50))
        >>> [trace.name for trace in dp.plot.audit(report).data]
        ['exact', 'stated']
    """
    promise = report.claimed if promise is None else promise
    return privacy_curve_figure(
        report.curve.epsilons,
        report.curve.deltas,
        report.curve.lower,
        broken=report.broken_at(promise),
        claimed=(promise.epsilon, promise.delta) if promise.is_private else None,
    ).to_plotly()


def _samples(outcome: SampledCpts, cell: str, exact: Dirichlets | None, *, zoom: bool) -> PlotlyFigure:
    if exact is None:
        raise InputError("Sampled probabilities name no network. Pass the exact posterior, or read release.numbers.")
    place = _cell_called(exact.network, cell)
    theta = density_grid([(exact.alpha[place], exact.rest_of(place))])
    curator, samples = density(exact, place, theta), outcome.draws[..., place].ravel()
    name = exact.network.cell_label(place)
    return density_figure(theta, {}, exact=curator, samples=samples, name=name, zoom=zoom).to_plotly()


def _cell_called(net: Network, name: str) -> int:
    """Return the cell with this name. Errors: InputError, which names one."""
    event, bar, given = name.partition(" | ")
    example = 0
    for node, states in enumerate(net.states):
        for code, state in enumerate(states):
            if event == assignment(net.names[node], state):
                labels, row = net.row_labels(), f"{net.names[node]}{bar}{given}"
                if row in labels:
                    return int(net.row_starts[labels.index(row)]) + code
                example = int(net.cell_offsets[node]) + code
    raise InputError(f'No probability is called {brief(name)}. A name is, for example, "{net.cell_label(example)}".')
