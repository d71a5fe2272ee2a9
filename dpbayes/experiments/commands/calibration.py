"""The calibration experiment as a command line: every setting, and coverage of Asia's intervals against epsilon."""

import argparse
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.parameters import Parameter
from dpbayes.base.randomness import seed_of
from dpbayes.base.steps import finished
from dpbayes.experiments.calibration import EPSILONS, CalibrationStudy, Trial, against_epsilon, calibrate, combinations
from dpbayes.experiments.commands.files import draw, require_page, require_suffix, write
from dpbayes.experiments.commands.options import add_out, add_settings, settings_given
from dpbayes.figures.explore import coverage_figure
from dpbayes.figures.style import Figure
from dpbayes.mechanisms import LaplaceUpdates
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.sources.named_networks import load_named


@dataclass(frozen=True, kw_only=True)
class CalibrationSize:
    """The number of simulated releases for every setting, each of another table, and the seed."""

    releases: Annotated[
        int, Parameter("", low=2, high=100_000, typical=1000, log=True, whole=True, title="releases of every setting")
    ] = 1000
    seed: Annotated[int, seed_of("the probabilities, tables and noise")] = 1


def settings_along() -> tuple[Trial, ...]:
    """Return the settings of the picture of coverage against epsilon: Asia, 1000 records, Laplace, 1 in every cell."""
    asia = Dirichlets.symmetric(load_named("asia")[0])
    return against_epsilon(
        "coverage against epsilon", lambda epsilon: LaplaceUpdates(prior=asia, epsilon=epsilon), 1000
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the size, the results file and the picture to a parser."""
    add_settings(parser, CalibrationSize)
    add_out(parser, otherwise="a table is printed")
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="an .html file of coverage against epsilon, as on the Explore page"
    )


def run(args: argparse.Namespace) -> str:
    """Run the experiment and return a table, or the place of the written file. Errors: InputError."""
    require_suffix(args.out)
    require_page(args.picture)
    size = settings_given(CalibrationSize, args)
    study = finished(calibrate((*combinations(), *settings_along()), seed=size.seed, releases=size.releases))
    frame = study.frame()
    lines = [write(frame, args.out, asdict(size)) if args.out else table_of(frame)]
    if args.picture:
        lines.append(draw(picture_of(study), args.picture))
    return "\n".join(lines)


def picture_of(study: CalibrationStudy) -> Figure:
    """Return the coverage of intervals against epsilon, for the settings that differ only in epsilon."""
    last = slice(-len(settings_along()), None)
    along = replace(study, settings=study.settings[last], ranks=study.ranks[last])
    return coverage_figure(along.curves(LEVEL), np.array(EPSILONS), level=LEVEL)


def table_of(frame: "pd.DataFrame") -> str:
    """Return the lines of `CalibrationStudy.frame` as text, each number with its standard error."""
    shown = frame[["setting", "n", "epsilon", "reading"]].assign(epsilon=frame["epsilon"].map("{:.3g}".format))
    for name in frame.columns:
        if f"{name}, error" in frame:
            pairs = zip(frame[name], frame[f"{name}, error"], strict=True)
            shown[name] = [f"{value:.3f} ± {error:.3f}" for value, error in pairs]
    return shown.to_string(index=False)
