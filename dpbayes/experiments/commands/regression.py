"""The regression experiment as a command line and as Python code, as the page shows them for copying."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qsl

from dpbayes.base.libraries import pd
from dpbayes.base.parameters import parameters_of
from dpbayes.base.randomness import seed_of
from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError, brief
from dpbayes.experiments.commands import options
from dpbayes.experiments.commands.files import as_csv_or_written, require_suffix
from dpbayes.experiments.regression.records import OwnColumns, numeric_table
from dpbayes.experiments.regression.result import RegressionResult
from dpbayes.experiments.regression.scenario import (
    Records,
    RegressionScenario,
    StudyRecords,
    SummedRecords,
    experiment,
    records_of,
    settings_text,
    study_records,
    summing,
)
from dpbayes.sources.engines.address import open_table, parsed
from dpbayes.sources.files import read_table

_PREFIX = "regression."


@dataclass(frozen=True, kw_only=True)
class RegressionSeeds:
    """The seeds of an experiment."""

    seed: Annotated[int, seed_of("splits and samples")] = 1
    data_seed: Annotated[int, seed_of("the synthetic records")] = 1


_SEEDS = tuple(parameters_of(RegressionSeeds))


@dataclass(frozen=True, kw_only=True)
class RegressionRecipe:
    """All that reproduces an experiment's numbers: settings, seeds, and the person's own table, if it is used.

    `table` is the name of its file, or `source` the address of a connected table, of which only sums are computed.
    `columns` are its stated columns.
    """

    scenario: RegressionScenario
    seed: int = 1
    data_seed: int = 1
    table: str = ""
    source: str = ""
    columns: OwnColumns | None = None

    @property
    def arguments(self) -> list[str]:
        """The words of the command line after `regression`; `recipe_of` reads them back."""
        seeds = RegressionSeeds(seed=self.seed, data_seed=self.data_seed)
        words = options.words_of(self.scenario) + options.words_of(seeds)
        if self.columns is None:
            return words
        which = f"--source={self.source}" if self.source else f"--table={self.table}"
        return [*words, which, "--columns", self.columns.text]

    @property
    def command(self) -> str:
        """The whole command, to paste into a shell."""
        return options.shell("regression", self.arguments)

    @property
    def python(self) -> str:
        """Three lines of Python for the same experiment."""
        return (
            "from dpbayes.experiments.commands.regression import recipe_of\n"
            f"recipe = recipe_of({self.arguments!r})\n"
            "print(recipe.frame(recipe.result()))\n"
        )

    @property
    def settings(self) -> dict[str, str]:
        """The settings of a results file: as in a link, the own columns, and the command."""
        text = settings_text(self.scenario, seed=self.seed, data_seed=self.data_seed)
        place = {"source": self.source} if self.source else {"table": self.table}
        own = place | {"columns": self.columns.text} if self.columns else {}
        return own | {"command": self.command, "settings": text}

    def records(self) -> StudyRecords | SummedRecords:
        """Return the records; the person's own table is read from its file, or summed. Errors: InputError, OSError."""
        if self.columns is None:
            return records_of(self.scenario, seed=self.data_seed)
        if self.source:
            return finished(summing(open_table(self.source), self.columns))
        return study_records(*numeric_table(_read(Path(self.table)), self.columns.features, self.columns.target))

    def result(self) -> RegressionResult:
        """Run the experiment. Errors: InputError, OSError."""
        return finished(experiment(self.scenario, self.records(), seed=self.seed))

    def frame(self, result: RegressionResult) -> "pd.DataFrame":
        """Return a result's frame with `settings` in its last columns, for the repeats of the result."""
        here = replace(self, scenario=replace(self.scenario, repeats=result.repeats))
        return result.frame().assign(**here.settings)


# The command line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for a link, for every setting, for the person's own table and for the results file."""
    options.add_link(parser)
    options.add_settings(parser, RegressionScenario)
    options.add_settings(parser, RegressionSeeds)
    parser.add_argument(
        "--table", default="", metavar="FILE", help="your own table as a .csv, .xlsx or .parquet file, with --columns"
    )
    parser.add_argument(
        "--source",
        default="",
        metavar="ADDRESS",
        help="a connected table such as parquet:visits, with --columns; only its sums are computed, without a test set",
    )
    parser.add_argument(
        "--columns",
        default="",
        metavar="JSON",
        help='the used columns with their public bounds, the target last: {"age": [18, 90], "pay": [0, 500]}; a third '
        "number replaces missing values",
    )
    options.add_out(parser, otherwise="CSV is printed")


def recipe_of(words: Sequence[str]) -> RegressionRecipe:
    """Return the experiment that a command line describes. Errors: InputError, or SystemExit for unknown words."""
    parser = argparse.ArgumentParser(prog="regression")
    add_arguments(parser)
    return recipe_from(parser.parse_args(list(words)))


def recipe_from(args: argparse.Namespace) -> RegressionRecipe:
    """Return the experiment that parsed options describe; single options override a link. Errors: InputError."""
    given = options.texts_given(RegressionScenario, args) | options.texts_given(RegressionSeeds, args)
    own = {"records": Records.UPLOAD.value} if args.table else {}
    own |= {"records": Records.CONNECTED.value} if args.source else {}
    texts = own | _linked(args.settings) | given
    seeds = options.taken(RegressionSeeds, texts)
    scenario = options.scenario_from(RegressionScenario, texts)
    is_own = scenario.records in (Records.UPLOAD, Records.CONNECTED)
    if (scenario.records is Records.CONNECTED) != bool(args.source):
        raise InputError(
            "A connected table needs --source and --columns, and --records must be "
            f'"{Records.CONNECTED.value}"; other records take no --source.'
        )
    if (scenario.records is Records.UPLOAD) != bool(args.table) or is_own != bool(args.columns):
        raise InputError(
            f'Your own table needs --table and --columns, and --records must be "{Records.UPLOAD.value}"; '
            "other records take neither option."
        )
    columns = OwnColumns.from_text(args.columns) if is_own else None
    return RegressionRecipe(
        scenario=scenario,
        seed=seeds.seed,
        data_seed=seeds.data_seed,
        table=args.table,
        source=args.source,
        columns=columns,
    )


def run(args: argparse.Namespace) -> str:
    """Run the experiment; return its frame as CSV, or the place of the written file. Errors: InputError, OSError."""
    require_suffix(args.out, args.table, *(parsed(args.source).paths if args.source else ()))
    recipe = recipe_from(args)
    return as_csv_or_written(recipe.frame(recipe.result()), args.out, recipe.settings)


def _linked(link: str) -> dict[str, str]:
    """Return a link's settings of this experiment and its seeds, as texts by field name. Errors: InputError.

    A whole link can also contain settings of other pages. In settings alone, an unknown name is an error.
    """
    address, is_link, query = link.rpartition("?")
    if address and address.rstrip("/").rpartition("/")[2] != "regression":
        raise InputError(f"{brief(address)} is not a link of the Regression page. Paste the link that the page shows.")
    texts = dict(parse_qsl(query, keep_blank_values=True))
    for key in texts:
        if not is_link and key not in _SEEDS and not key.startswith(_PREFIX):
            raise InputError(
                f"There is no regression setting {brief(key)}; write settings as in the page's link, such as "
                f"{_PREFIX}repeats=20."
            )
    return {key.removeprefix(_PREFIX): text for key, text in texts.items() if key in _SEEDS or key.startswith(_PREFIX)}


def _read(path: Path) -> "pd.DataFrame":
    return read_table(path.name, path.read_bytes()).frame
