"""An accuracy experiment as a command line and as Python code, as the page shows them for copying."""

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from dpbayes.base.libraries import pd
from dpbayes.base.validation import InputError, brief, finite_number
from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.methods import ALL_METHODS, methods_for
from dpbayes.experiments.accuracy.plan import (
    AccuracyPlan,
    EpsilonGrid,
    Synthetic,
    checked_epsilons,
    default_target,
    epsilon_grid,
)
from dpbayes.experiments.accuracy.study import AccuracyStudy, accuracy_study, settings_of
from dpbayes.experiments.commands import files
from dpbayes.experiments.commands.files import Settings, require_suffix, write
from dpbayes.experiments.commands.options import (
    add_network,
    add_out,
    add_settings,
    features_of,
    network_of,
    settings_given,
    shell,
    table_of,
    values_given,
    words_of,
)
from dpbayes.mechanisms.noise.shares import LEAST_WEIGHT, MOST_WEIGHT, weight_texts
from dpbayes.mechanisms.parameters import Calibration, Noise
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import BINARY, Network
from dpbayes.sources.edgelist import write_edges
from dpbayes.sources.shipped_tables import SHIPPED, default_network

UNNAMED = "a table without a name"


@dataclass(frozen=True)
class AccuracyRecipe:
    """A plan and the sources of its parts: `features` of a naive Bayes network, or a key of NAMED.

    `table` is a key of SHIPPED, or the name of the records' file, which is not opened.
    """

    plan: AccuracyPlan
    features: int = 0
    named: str = ""
    table: str = ""

    @property
    def arguments(self) -> list[str]:
        """The words of the command line after `accuracy`; `recipe_of` reads them back."""
        plan = self.plan
        words = [*self._network_words, *self._source_words]
        words += ["--target", plan.target, *words_of(plan), *self._epsilon_words]
        words += ["--weights", *weight_words] if (weight_words := weight_texts(plan.network, plan.weights)) else []
        return [*words, "--methods", *(method.name for method in plan.methods)]

    @property
    def _network_words(self) -> list[str]:
        network = self.plan.network
        if self.features:
            return ["--features", str(self.features)]
        if self.named:
            return ["--network", self.named]
        if self._is_default:
            return []
        words = ["--arrows", write_edges(network).strip()]
        if self.table in SHIPPED:
            return words
        whole = isinstance(self.plan.source, Dataset)
        states = {n: s for n, s in zip(network.names, network.states, strict=True) if whole or s != BINARY}
        return [*words, "--states", json.dumps(states, ensure_ascii=False)] if states else words

    @property
    def _is_default(self) -> bool:
        return self.table in SHIPPED and self.plan.network == default_network(self.table)

    @property
    def _source_words(self) -> list[str]:
        source = self.plan.source
        if isinstance(source, Dataset):
            return ["--table", self.table or UNNAMED]
        return words_of(source)

    @property
    def _epsilon_words(self) -> list[str]:
        grid = self.plan.epsilons
        low, high = f"{grid[0]:.4g}", f"{grid[-1]:.4g}"
        if grid == epsilon_grid(float(low), float(high), points=len(grid)):
            return ["--low", low, "--high", high, "--points", str(len(grid))]
        return ["--epsilons", *(f"{epsilon!r}" for epsilon in grid)]

    @property
    def settings(self) -> dict[str, str | int | float]:
        """Settings of a results file in addition to the plan: names, states, planned repeats, the command."""
        network, source = self.plan.network, self.plan.source
        states = {n: s for n, s in zip(network.names, network.states, strict=True) if s != BINARY}
        return {
            "network": self._network_name,
            "states": json.dumps(states, ensure_ascii=False) if states else "",
            "source": (self.table or UNNAMED) if isinstance(source, Dataset) else "synthetic",
            "columns digest": digest(source) if isinstance(source, Dataset) else "",
            "planned repeats": self.plan.repeats,
            "command": self.command,
        }

    @property
    def _network_name(self) -> str:
        if self.features:
            return f"naive Bayes, {self.features} feature" + ("s" if self.features > 1 else "")
        return self.named or (f"that of {self.table}" if self._is_default else "drawn")

    def frame(self, study: AccuracyStudy) -> "pd.DataFrame":
        """Return the tidy results of this plan with `settings` in their columns."""
        return tidy(study, self.settings)

    @property
    def command(self) -> str:
        """The whole command, to paste into a shell."""
        return shell("accuracy", self.arguments)

    @property
    def python(self) -> str:
        """Three lines of Python for the same experiment."""
        return (
            "from dpbayes.experiments.commands.accuracy import accuracy_study, recipe_of\n"
            f"recipe = recipe_of({self.arguments!r})\n"
            "print(recipe.frame(accuracy_study(recipe.plan)))\n"
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that `recipe_of` reads."""
    where = parser.add_argument_group("network and records (synthetic records, unless a table is given)")
    where.add_argument("--features", metavar="D", help="a naive Bayes network with D features (default: 16)")
    add_network(where)
    where.add_argument(
        "--target", metavar="NODE", help="the node that is predicted (default: the node in the most families)"
    )
    add_settings(where, Synthetic)
    add_settings(parser, AccuracyPlan)
    add_settings(parser, EpsilonGrid)
    parser.add_argument(
        "--epsilons", nargs="+", metavar="EPSILON", help="values of epsilon in increasing order, instead of a grid"
    )
    parser.add_argument(
        "--weights",
        nargs="+",
        metavar="NODE=NUMBER",
        help="the weight of the error in a node's table, for mechanisms that distribute noise over tables (default: 1)",
    )
    names = ", ".join(ALL_METHODS)
    parser.add_argument(
        "--methods",
        nargs="+",
        metavar="NAME",
        help=f"the methods to compare (default: all that fit the network): {names}",
    )
    add_out(parser, otherwise="a short table is printed")


def run(args: argparse.Namespace) -> str:
    """Run the experiment of these options; write it, or return it as text. Errors: InputError."""
    require_suffix(args.out, args.table, args.arrows)
    recipe = _recipe(args)
    study = accuracy_study(recipe.plan)
    if args.out is None:
        return _as_text(study)
    return write(recipe.frame(study), args.out, every_setting(study, recipe.settings))


def recipe_of(words: Sequence[str]) -> AccuracyRecipe:
    """Return the plan that a command line describes. Errors: InputError, or SystemExit for unknown words."""
    parser = argparse.ArgumentParser(prog="accuracy")
    add_arguments(parser)
    return _recipe(parser.parse_args(list(words)))


def digest(table: Dataset) -> str:
    """Return a digest of a table's columns and domains; it does not depend on the records."""
    return hashlib.sha256(json.dumps([table.names, table.states]).encode()).hexdigest()[:16]


def _recipe(args: argparse.Namespace) -> AccuracyRecipe:
    table = table_of(args) if args.table else None
    network = network_of(args, table)
    values = values_given(AccuracyPlan, args)
    plan = AccuracyPlan(
        network=network,
        target=args.target or default_target(network),
        source=table or settings_given(Synthetic, args),
        epsilons=_epsilons(args),
        methods=_methods(args.methods, network, values.get("noise", Noise.REAL)),
        weights=_weights(args.weights or (), network),
        **values,
    )
    features = 0 if (args.network or args.arrows or args.table) and not args.features else features_of(args)
    return AccuracyRecipe(plan, features, args.network or "", args.table or "")


def _epsilons(args: argparse.Namespace) -> tuple[float, ...]:
    return checked_epsilons(args.epsilons) if args.epsilons else settings_given(EpsilonGrid, args).epsilons


def _methods(names: Sequence[str] | None, network: Network, noise: Noise) -> tuple[Method, ...]:
    if not names:
        return methods_for(network, tuple(Calibration), noise, among=ALL_METHODS.values())
    for name in names:
        if name.lower() not in ALL_METHODS:
            raise InputError(f"There is no method {brief(name)}; choose from {', '.join(ALL_METHODS)}.")
    return tuple(ALL_METHODS[name.lower()] for name in names)


def _weights(texts: Sequence[str], network: Network) -> tuple[float, ...]:
    weights = [1.0] * len(network.names)
    for text in texts:
        name, sign, number = text.rpartition("=")
        if not sign:
            raise InputError(f"Write a weight as NODE=NUMBER, not as {brief(text)}.")
        weights[network.index(name)] = finite_number("Every weight", number, low=LEAST_WEIGHT, high=MOST_WEIGHT)
    return tuple(weights) if texts else ()


def _as_text(study: AccuracyStudy) -> str:
    frame = study.frame()
    columns = ["method", "epsilon", "certified epsilon", "accuracy", "accuracy standard error", "log loss"]
    return frame[columns].to_string(index=False, float_format=lambda value: f"{value:.4g}", na_rep="")


# Results as a table or a file, with the settings


def tidy(study: AccuracyStudy, settings: Settings) -> "pd.DataFrame":
    """Return a study's frame with `settings`, such as those of its recipe, in more columns."""
    return study.frame().assign(**settings)


def parquet_bytes(study: AccuracyStudy, settings: Settings | None = None) -> bytes:
    """Return the tidy frame as Parquet; the settings are in its columns and, as JSON, in the metadata `dpbayes`."""
    return files.parquet_bytes(tidy(study, settings or {}), every_setting(study, settings or {}))


def every_setting(study: AccuracyStudy, settings: Settings) -> Settings:
    """Return the settings in a file's metadata: the repeats and the plan of a study, and `settings`."""
    return {"repeats": study.repeats, **settings_of(study.plan), **settings}
