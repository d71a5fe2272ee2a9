"""Pictures from Python: the same as those of the pages, and a sentence where there is none."""

import doctest
import inspect

import numpy as np
import pytest

import dpbayes as dp
from dpbayes import plot

NETWORK, CPTS = dp.load_named("asia")
DATA = dp.sample_dataset(NETWORK, CPTS, 500, np.random.default_rng(1))
COUNTS = dp.count(NETWORK, DATA)
CELL = "dysp=yes | bronc=yes, either=no"


def release_by(mechanism: type, **more: float) -> dp.Release:
    return mechanism(prior=dp.Dirichlets.symmetric(NETWORK), epsilon=1, **more).simulate(
        COUNTS, np.random.default_rng(2)
    )


@pytest.mark.parametrize("name", plot.__all__)
def test_a_picture_documents_itself_and_its_example_prints_what_it_shows(name: str) -> None:
    function = getattr(dp.plot, name)
    text = inspect.getdoc(function) or ""
    assert all(f"\n{title}:\n" in text for title in ("Args", "Returns", "Raises", "Example"))
    test = doctest.DocTestParser().get_doctest(text, {"dp": dp, "np": np}, name, None, None)
    failures: list[str] = []
    outcome = doctest.DocTestRunner().run(test, out=failures.append)
    assert outcome.attempted
    assert not outcome.failed, "".join(failures)


def test_densities_integrate_to_one_and_have_the_means_of_their_posteriors() -> None:
    release, exact = release_by(dp.LaplaceUpdates), dp.Dirichlets.symmetric(NETWORK).updated(COUNTS)
    figure = dp.plot.posteriors(release, CELL, exact=exact, zoom=False)
    drawn = {trace.name: (np.asarray(trace.x), np.asarray(trace.y)) for trace in figure.data}
    place = next(k for k in range(NETWORK.cell_count) if NETWORK.cell_label(k) == CELL)
    means = {
        "private, noise-aware": release.noise_aware().mean[place],
        "private, naive": release.posterior.mean[place],
        "exact (curator view)": exact.mean[place],
    }
    assert set(drawn) == set(means)
    for name, mean in means.items():
        theta, density = drawn[name]
        assert np.trapezoid(density, theta) == pytest.approx(1, abs=0.01)
        assert np.trapezoid(theta * density, theta) == pytest.approx(mean, abs=0.01)
    assert figure.layout.xaxis.title.text == f"P({CELL})"
    assert all(trace.name != "exact (curator view)" for trace in dp.plot.posteriors(release, CELL).data)


def test_samples_are_drawn_as_they_are() -> None:
    sampler = dp.PosteriorSampler(prior=NETWORK, epsilon=1)
    release, exact = sampler.simulate(COUNTS, np.random.default_rng(3)), sampler.prior.updated(COUNTS)
    figure = dp.plot.posteriors(release, "smoke=yes", exact=exact)
    place = next(k for k in range(NETWORK.cell_count) if NETWORK.cell_label(k) == "smoke=yes")
    assert np.asarray(figure.data[0].x) == pytest.approx(release.outcome.draws[..., place].ravel())
    with pytest.raises(dp.InputError, match="exact posterior"):
        dp.plot.posteriors(release, "smoke=yes")


def test_what_cannot_be_drawn_is_refused_in_a_sentence() -> None:
    release = release_by(dp.LaplaceUpdates)
    for name in ("smoke", "smoke=maybe", "dysp=yes", "dysp=yes | bronc=yes", "", "no=no | a=b"):
        with pytest.raises(dp.InputError, match=r'is called .* for example, "(asia|smoke|dysp)='):
            dp.plot.posteriors(release, name)


def test_every_node_and_arrow_is_drawn_with_its_name_as_text() -> None:
    figure = dp.plot.network(NETWORK)
    assert sorted(figure.data[0].text) == sorted(NETWORK.names)
    places = dict(zip(figure.data[0].text, zip(figure.data[0].x, figure.data[0].y, strict=True), strict=True))
    ends = {((note.ax, note.ay), (note.x, note.y)) for note in figure.layout.annotations}
    assert ends == {(places[parent], places[child]) for parent, child in NETWORK.edges}
    odd = dp.network("<b> -> c")
    assert dp.plot.network(odd).data[0].text == ("&lt;b&gt;", "c")


def test_an_audit_is_red_where_it_exceeds_the_promise() -> None:
    mechanism = dp.LaplaceFourier(prior=dp.chain(3), epsilon=1, calibration=dp.Calibration.AS_PRINTED)
    report = dp.audit_report(mechanism, n=100, epsilons=np.linspace(0, 4, 81))
    names = [trace.name for trace in dp.plot.audit(report, promise=dp.Guarantee(0.1)).data]
    assert "above the claim" in names
    assert "above the claim" not in [trace.name for trace in dp.plot.audit(report).data]
    assert not report.broken_at(report.certified).any()


def test_the_accuracy_of_chosen_mechanisms_is_drawn_beside_the_two_baselines() -> None:
    chosen = [dp.LaplaceUpdates, dp.GaussianUpdates]
    figure = dp.plot.accuracy(NETWORK, DATA, "bronc", mechanisms=chosen, epsilons=[0.1, 10], repeats=2)
    every = dp.plot.accuracy(NETWORK, DATA, "bronc", epsilons=[0.1, 10], repeats=2)
    names = [{trace.name for trace in one.data} for one in (figure, every)]
    assert names[0] < names[1]
    shown = [kind.label for kind in dp.MECHANISMS if any(name.startswith(kind.label) for name in names[0])]
    assert shown == ["Laplace", "Gaussian"]
