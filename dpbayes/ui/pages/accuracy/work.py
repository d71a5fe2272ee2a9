"""From the settings to an accuracy study, and running it so that it can be watched and stopped."""

import functools

from dpbayes.base.validation import InputError, brief
from dpbayes.experiments.accuracy.methods import ALL_METHODS, METHODS, Method, methods_for
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Synthetic, default_target, epsilon_grid
from dpbayes.experiments.accuracy.study import AccuracyStudy, accuracy_steps
from dpbayes.mechanisms import Calibration, Noise
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import naive_bayes
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.options.accuracy import ADDED, AccuracyOptions, CalibrationsShown, Scene
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets.limits import Possible, highest, lowest, nearest
from dpbayes.ui.widgets.running import Running, running

CALIBRATIONS = {
    CalibrationsShown.BOTH: tuple(Calibration),
    CalibrationsShown.CERTIFIED: (Calibration.CERTIFIED,),
    CalibrationsShown.AS_PRINTED: (Calibration.AS_PRINTED,),
}


def scene_of(chosen: Chosen) -> Scene:
    """Return which records are predicted: to a recipient, who may not see curves of true records, synthetic ones."""
    scene: Scene = chosen.options("accuracy").scene
    return Scene.NETWORK if scene is Scene.TABLE and not chosen.is_curator else scene


def predicting_network(chosen: Chosen) -> Network:
    """Return the network that predicts. Errors: InputError."""
    options: AccuracyOptions = chosen.options("accuracy")
    return _naive_bayes(options.features) if options.scene is Scene.NAIVE_BAYES else chosen.network


def target_of(chosen: Chosen, net: Network) -> str:
    """Return the chosen target, or a default that the majority class does not predict almost always."""
    if chosen.settings.target in net.names:
        return chosen.settings.target
    return default_target(net, chosen.dataset if scene_of(chosen) is Scene.TABLE else None)


def curves_left_out(chosen: Chosen) -> frozenset[Method]:
    """Return the curves that are not drawn; those of the chosen mechanism are drawn with the chosen table or graph."""
    left_out: frozenset[Method] = chosen.options("accuracy").left_out
    if scene_of(chosen) is Scene.NAIVE_BAYES:
        return left_out
    kind = kind_called(chosen.settings.mechanism)
    return left_out - {method for method in METHODS.values() if method.kind is kind and method.option[0] in ADDED}


_naive_bayes = functools.lru_cache(maxsize=8)(naive_bayes)


def methods_on_offer(options: AccuracyOptions, net: Network, noise: Noise) -> tuple[Method, ...]:
    """Return the methods with the requested calibrations and noise that the network allows."""
    return methods_for(net, CALIBRATIONS[options.curves], noise, among=ALL_METHODS.values())


GIVING = {
    "accuracy.points": lowest("accuracy.points"),
    "accuracy.high": highest("accuracy.high"),
    "accuracy.low": lowest("accuracy.low"),
    "accuracy.training": lowest("accuracy.training"),
    "accuracy.draws": lowest("accuracy.draws"),
    "accuracy.cells": lowest("accuracy.cells"),
    "accuracy.testing": lowest("accuracy.testing"),
    "accuracy.repeats": lowest("accuracy.repeats"),
}
"""What gives way where an experiment cannot be run or takes too long, what matters most first."""


def possible(chosen: Chosen) -> Possible:
    """Return the settings of an experiment that can be run, nearest to the requested settings. Errors: InputError."""
    return nearest(chosen.settings, GIVING, lambda settings: plan_at(chosen, settings))


def plan_at(chosen: Chosen, settings: Settings) -> AccuracyPlan:
    """Return the plan at settings with other options than the chosen ones. Errors: InputError."""
    options, net, noise = settings.options("accuracy"), predicting_network(chosen), settings.parameter("noise")
    left_out = curves_left_out(chosen)
    methods = tuple(m for m in methods_on_offer(options, net, noise) if m not in left_out)
    return AccuracyPlan(
        network=net,
        target=target_of(chosen, net),
        source=_source(chosen, options, net),
        epsilons=epsilon_grid(options.low, options.high, points=options.points),
        methods=methods,
        training=options.training,
        testing=options.testing,
        repeats=options.repeats,
        prior=settings.prior,
        stealth=options.stealth,
        draws=options.draws,
        cells=options.cells,
        noise=noise,
        seed=settings.seed,
    )


def _source(chosen: Chosen, options: AccuracyOptions, net: Network) -> Synthetic | Dataset:
    if scene_of(chosen) is not Scene.TABLE:
        return Synthetic(records=options.records, strength=options.strength)
    table = chosen.dataset
    missing = [name for name in net.names if name not in table.position]
    if missing:
        raise InputError(
            f"The node {brief(missing[0])} is not a column of the table. Rename or delete it on the Network page."
        )
    return table


# Running


def study_run(plan: AccuracyPlan) -> Running[AccuracyStudy]:
    """Return this session's study of a plan."""
    return running("accuracy", plan, lambda: accuracy_steps(plan))


def is_of_a_table(plan: AccuracyPlan) -> bool:
    """Whether true records are predicted, which only the curator may see."""
    return isinstance(plan.source, Dataset)
