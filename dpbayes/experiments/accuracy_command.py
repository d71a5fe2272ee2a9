"""An accuracy experiment as a command line and as Python, and back: what the page shows to copy."""

import argparse
import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpbayes.edgelist import read_edges, write_edges
from dpbayes.experiments.accuracy import AccuracyStudy, accuracy_study
from dpbayes.experiments.accuracy_frame import parquet_bytes
from dpbayes.experiments.accuracy_plan import (
    AccuracyPlan,
    Method,
    Synthetic,
    default_target,
    epsilon_grid,
    methods_for,
)
from dpbayes.mechanisms.base import Calibration
from dpbayes.network import BINARY, Network
from dpbayes.networks import NAMED, load_named, naive_bayes
from dpbayes.shipped import SHIPPED, default_network, load_shipped
from dpbayes.validation import InputError, brief, finite_number, whole_number


@dataclass(frozen=True)
class Recipe:
    """A plan and where its parts come from: `features` of a naive Bayes network, or a key of NAMED, of SHIPPED."""

    plan: AccuracyPlan
    features: int = 0
    named: str = ""
    table: str = ""

    @property
    def arguments(self) -> list[str]:
        """The words of the command line after `accuracy`; `recipe_of` reads them back."""
        plan, found = self.plan, []
        if self.features:
            found += ["--features", str(self.features)]
        elif self.named:
            found += ["--network", self.named]
        if self.table:
            found += ["--table", self.table]
        if isinstance(plan.source, Synthetic):
            found += ["--records", str(plan.source.records), "--strength", f"{plan.source.strength!r}"]
        if not (self.features or self.named or (self.table and plan.network == default_network(self.table))):
            found += ["--arrows", write_edges(plan.network).strip()]
            odd = {n: s for n, s in zip(plan.network.names, plan.network.states, strict=True) if s != BINARY}
            if odd and not self.table:
                found += ["--states", json.dumps(odd, ensure_ascii=False)]
        found += ["--target", plan.target, "--training", str(plan.training), "--repeats", str(plan.repeats)]
        found += ["--low", f"{plan.epsilons[0]:.4g}", "--high", f"{plan.epsilons[-1]:.4g}"]
        found += ["--points", str(len(plan.epsilons)), "--prior", f"{plan.prior!r}", "--stealth", f"{plan.stealth!r}"]
        found += ["--draws", str(plan.draws), "--cells", str(plan.cells), "--seed", str(plan.seed)]
        return [*found, "--methods", *(method.name.lower() for method in plan.methods)]

    @property
    def command(self) -> str:
        """The whole command, to paste into a shell."""
        return shlex.join(["python", "-m", "dpbayes.experiments", "accuracy", *self.arguments])

    @property
    def python(self) -> str:
        """The same in three lines of Python."""
        return (
            "from dpbayes.experiments.accuracy_command import accuracy_study, recipe_of\n"
            f"recipe = recipe_of({self.arguments!r})\n"
            "print(accuracy_study(recipe.plan).frame())\n"
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that `recipe_of` reads."""
    where = parser.add_argument_group("network and records")
    where.add_argument("--features", metavar="D", help="a naive Bayes network of so many features (16 if nothing else)")
    where.add_argument("--network", metavar="KEY", help=f"a published graph: {', '.join(NAMED)}")
    where.add_argument("--arrows", metavar="TEXT", help="a graph as lines 'parent -> child', or a file of them")
    where.add_argument("--states", metavar="JSON", help='states of nodes of --arrows that are not ("no", "yes")')
    where.add_argument("--table", metavar="KEY", help=f"a table instead of synthetic records: {', '.join(SHIPPED)}")
    where.add_argument("--target", metavar="NODE", help="what is predicted; the node in the most families if not given")
    where.add_argument("--records", metavar="N", default="1000", help="synthetic records of every repeat (%(default)s)")
    where.add_argument("--strength", default="1", help="of the random models, 0 to 1 (%(default)s)")
    parser.add_argument("--training", metavar="N", default="50", help="records trained on (%(default)s)")
    parser.add_argument("--repeats", default="100", help="(%(default)s)")
    parser.add_argument("--low", default="0.1", help="smallest epsilon (%(default)s)")
    parser.add_argument("--high", default="100", help="largest epsilon (%(default)s)")
    parser.add_argument("--points", default="20", help="epsilons in all (%(default)s)")
    parser.add_argument("--prior", default="1", help="every Dirichlet parameter (%(default)s)")
    parser.add_argument("--stealth", default="0.9", help="how often Fourier releases hold no negative (%(default)s)")
    parser.add_argument(
        "--draws", metavar="N", default="100", help="of the sampler that draws many times (%(default)s)"
    )
    parser.add_argument("--cells", metavar="G", default="20", help="of the private MAP (%(default)s)")
    parser.add_argument("--seed", default="1", help="(%(default)s)")
    names = ", ".join(method.name.lower() for method in Method)
    parser.add_argument("--methods", nargs="+", metavar="NAME", help=f"all that fit, or some of: {names}")
    parser.add_argument("--out", metavar="FILE", help="write .csv or .parquet instead of printing")


def run(asked: argparse.Namespace) -> str:
    """Run the experiment that was asked for; write it, or return it as text. Errors: InputError."""
    out = Path(asked.out) if asked.out else None
    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise InputError(f"The results are written to a file ending in .csv or .parquet; {brief(out.name)} does not.")
    study = accuracy_study(_recipe(asked).plan)
    if out is None:
        return _as_text(study)
    if out.suffix == ".csv":
        study.frame().to_csv(out, index=False)
    else:
        out.write_bytes(parquet_bytes(study))
    return f"Written to {out}"


def recipe_of(words: Sequence[str]) -> Recipe:
    """Return the plan that a command line describes. Errors: InputError, or SystemExit for unknown words."""
    parser = argparse.ArgumentParser(prog="accuracy")
    add_arguments(parser)
    return _recipe(parser.parse_args(list(words)))


def _recipe(asked: argparse.Namespace) -> Recipe:
    network = _network(asked)
    source = load_shipped(asked.table) if asked.table else _synthetic(asked)
    plan = AccuracyPlan(
        network=network,
        target=asked.target or default_target(network),
        source=source,
        epsilons=epsilon_grid(
            _number(asked, "low"), _number(asked, "high"), points=int(_number(asked, "points", whole=1))
        ),
        methods=_methods(asked.methods, network),
        training=int(_number(asked, "training", whole=1)),
        repeats=int(_number(asked, "repeats", whole=1)),
        prior=_number(asked, "prior"),
        stealth=_number(asked, "stealth"),
        draws=int(_number(asked, "draws", whole=1)),
        cells=int(_number(asked, "cells", whole=1)),
        seed=int(_number(asked, "seed", whole=1)),
    )
    features = 0 if (asked.network or asked.arrows or asked.table) and not asked.features else _features(asked)
    return Recipe(plan, features, asked.network or "", asked.table or "")


def _number(asked: argparse.Namespace, name: str, *, whole: int = 0) -> float:
    read = whole_number if whole else finite_number
    return read(f"--{name}", getattr(asked, name), low=-(10**18), high=10**18)


def _synthetic(asked: argparse.Namespace) -> Synthetic:
    return Synthetic(records=int(_number(asked, "records", whole=1)), strength=_number(asked, "strength"))


def _features(asked: argparse.Namespace) -> int:
    return whole_number("--features", asked.features or 16, low=1, high=10**9)


def _network(asked: argparse.Namespace) -> Network:
    given = [name for name in ("features", "network", "arrows") if getattr(asked, name)]
    if len(given) > 1:
        raise InputError(f"--{given[0]} and --{given[1]} both name a network; give one of them.")
    if asked.network:
        return load_named(asked.network)[0]
    if asked.arrows:
        text = Path(asked.arrows).read_text(encoding="utf-8") if _is_file(asked.arrows) else asked.arrows
        names, edges = read_edges(text)
        return Network.from_edges(names, edges, _states(asked))
    if asked.table and not asked.features:
        return default_network(asked.table)
    return naive_bayes(_features(asked))


def _is_file(text: str) -> bool:
    return "\n" not in text and len(text) < 500 and Path(text).is_file()


def _states(asked: argparse.Namespace) -> dict[str, tuple[str, ...]]:
    if asked.table:
        table = load_shipped(asked.table)
        return dict(zip(table.names, table.states, strict=True))
    try:
        found = json.loads(asked.states or "{}")
        return {str(name): tuple(str(state) for state in states) for name, states in found.items()}
    except (ValueError, TypeError, AttributeError):
        raise InputError('--states must be JSON such as {"age": ["young", "old"]}.') from None


def _methods(names: Sequence[str] | None, network: Network) -> tuple[Method, ...]:
    if not names:
        return methods_for(network, tuple(Calibration))
    known = {method.name.lower(): method for method in Method}
    for name in names:
        if name.lower() not in known:
            raise InputError(f"There is no method {brief(name)}; there are {', '.join(known)}.")
    return tuple(known[name.lower()] for name in names)


def _as_text(study: AccuracyStudy) -> str:
    frame = study.frame()
    columns = ["method", "epsilon", "certified epsilon", "accuracy", "accuracy standard error", "log loss"]
    return frame[columns].to_string(index=False, float_format=lambda value: f"{value:.4g}", na_rep="")
