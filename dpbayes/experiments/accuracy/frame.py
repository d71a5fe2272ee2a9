"""Results as a table or a file that carries its settings."""

import pandas as pd

from dpbayes.experiments import command
from dpbayes.experiments.accuracy.study import AccuracyStudy, settings_of
from dpbayes.experiments.command import Settings


def tidy(study: AccuracyStudy, settings: Settings) -> pd.DataFrame:
    """Return a study's frame with `settings`, such as those of its recipe, in columns as well."""
    return study.frame().assign(**settings)


def parquet_bytes(study: AccuracyStudy, settings: Settings | None = None) -> bytes:
    """Return the tidy frame as Parquet; the settings are in its columns and, as JSON, in the metadata `dpbayes`."""
    return command.parquet_bytes(tidy(study, settings or {}), every_setting(study, settings or {}))


def every_setting(study: AccuracyStudy, settings: Settings) -> Settings:
    """Return what a file says of a study in one place: its repeats, its plan, and `settings`."""
    return {"repeats": study.repeats, **settings_of(study.plan), **settings}
