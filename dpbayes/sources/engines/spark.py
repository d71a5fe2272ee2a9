"""Tables in Spark: a cluster, Spark on this machine, or a server of Spark Connect."""

import atexit
import itertools
import logging
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbayes.base.libraries import pa
from dpbayes.base.validation import InputError, brief
from dpbayes.sources.engines.statements import CHANGED, driver, named_table, quoted, statement

if TYPE_CHECKING:
    import ibis.expr.types as ir

QUIET = {"spark.log.level": "OFF", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
"""The pages show errors and progress themselves. Spark's own pages would be open to all machines."""
HERE = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""Spark on this machine accepts connections from this machine only."""

MOST_TRIES = 5
"""Retries for a server of Spark Connect that does not respond: about 17 seconds; Spark's default is ten minutes."""

_numbers = itertools.count()


@dataclass(frozen=True)
class SparkCluster:
    """A table of a cluster: catalogue, schema and name, or a format and a path such as ("parquet", "/data")."""

    title: str
    master: str
    name: tuple[str, ...] = ()

    @contextmanager
    def session(self) -> Iterator["SparkSession | ConnectSession"]:
        """Open a session with separate settings and temporary views. Errors: InputError if Spark cannot start."""
        sql = driver("pyspark.sql", "Spark", "spark")
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # it prints statements
        if self.master.startswith("sc://"):
            spark = _connected(self.master)
            try:
                yield ConnectSession(self, spark)
            finally:
                with suppress(Exception):  # a stopped server has ended the session
                    spark.stop()
        else:
            yield SparkSession(self, _started(sql, self.master))


@dataclass(frozen=True, eq=False)
class _SparkQueries(ABC):
    """The common part of both kinds of sessions: the table and the answers to queries."""

    cluster: SparkCluster
    spark: Any

    @abstractmethod
    def _watch(self, purpose: str) -> None:
        """Prepare progress and cancellation of the next query. Errors are ignored; the answer reports them."""

    def table(self) -> "ir.Table":
        import ibis.expr.datatypes as dt

        try:
            fields = self.spark.sql(f"select * from {quoted(self.cluster.name, '`')}").schema.fields
        except Exception as error:
            raise InputError(_why_not(error, self.cluster)) from None
        from ibis.backends.pyspark.datatypes import PySparkType

        schema: dict[str, Any] = {}
        for column in fields:
            word = column.dataType.simpleString()
            try:
                schema[column.name] = PySparkType.to_ibis(column.dataType)
            except Exception:
                schema[column.name] = dt.Unknown(raw_type=word)
            if "collate" in word.lower():  # distinct letters may be equal
                schema[column.name] = dt.Unknown(raw_type=word)
        return named_table(self.cluster.name, schema)

    def tables(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of the tables of the current schema. Errors: those of `answer`."""
        try:
            rows = self.spark.sql("show tables").collect()
        except Exception as error:
            raise InputError(_why_not(error, self.cluster)) from None
        return tuple((row["namespace"], row["tableName"]) for row in rows if not row["isTemporary"])

    def answer(self, expression: "ir.Table") -> "pa.Table":
        return self._answer(statement(expression, "pyspark"), "counts a table")

    def sampled(self, expression: "ir.Table", most: int, rng: np.random.Generator) -> "pa.Table":
        """Return the first rows in random order; no task keeps more rows than that. Errors: those of `answer`."""
        rows, seed = statement(expression, "pyspark"), int(rng.integers(1 << 31))
        return self._answer(f"select * from ({rows}) order by rand({seed}) limit {int(most)}", "draws a sample")

    def _answer(self, text: str, purpose: str) -> "pa.Table":
        with suppress(Exception):
            self._watch(purpose)
        try:
            return self.spark.sql(text).toArrow()
        except Exception as error:
            raise InputError(_why_not(error, self.cluster)) from None


@dataclass(frozen=True, eq=False)
class SparkSession(_SparkQueries):
    """A session of Spark whose driver runs here. Its jobs form a group, for progress and cancellation."""

    group: str = field(default_factory=lambda: f"dpbayes-{next(_numbers)}")

    def _watch(self, purpose: str) -> None:
        self.spark.sparkContext.setJobGroup(self.group, f"dpbayes {purpose}", interruptOnCancel=True)

    def share(self) -> float:
        """Return the finished share of the tasks of all known stages; 0 if the driver has stopped."""
        try:
            tracker = self.spark.sparkContext.statusTracker()
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(self.group)]
            stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
            running = [stage for stage in stages if stage is not None]
            return sum(s.numCompletedTasks for s in running) / max(1, sum(s.numTasks for s in running))
        except Exception:
            return 0.0

    def cancel(self) -> None:
        with suppress(Exception):  # a stopped driver has cancelled them
            self.spark.sparkContext.cancelJobGroup(self.group)


@dataclass(frozen=True, eq=False)
class ConnectSession(_SparkQueries):
    """A session of Spark Connect: its driver runs elsewhere."""

    stages: dict[str, float] = field(default_factory=dict)

    def _watch(self, purpose: str) -> None:
        self.spark.registerProgressHandler(self._on_progress)

    def _on_progress(self, stages: Any, **others: object) -> None:
        tasks = sum(stage.num_tasks for stage in stages or ())
        self.stages["share"] = sum(stage.num_completed_tasks for stage in stages or ()) / max(1, tasks)

    def share(self) -> float:
        """Return the finished share of the tasks of all known stages."""
        return min(1.0, self.stages.get("share", 0.0))

    def cancel(self) -> None:
        with suppress(Exception):  # a stopped server has cancelled it
            self.spark.interruptAll()


def _started(sql: Any, master: str) -> Any:
    """Start Spark, or use the Spark of this process. Errors: InputError if it has another master."""
    settings = QUIET | (HERE | {"spark.sql.warehouse.dir": _warehouse()} if master.startswith("local") else {})
    try:
        builder = sql.SparkSession.builder.appName("dpbayes").master(master)
        for key, value in settings.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        other, session = spark.sparkContext.master, spark.newSession()
        session.conf.set("spark.sql.caseSensitive", "true")
    except Exception as error:
        raise InputError(_why_closed(error, master)) from None
    if other != master:
        raise InputError(
            f"This program is connected to Spark at {brief(other)} and supports one connection only. Restart it to "
            f"connect to {brief(master)}."
        )
    return session


@cache
def _warehouse() -> str:
    """Return a folder that exists until the program ends; by default, Spark creates one in the working directory."""
    folder = mkdtemp(prefix="dpbayes-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _connected(url: str) -> Any:
    try:
        # The builder of pyspark.sql would set the whole process to Spark Connect.
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession as Remote
    except ImportError:
        raise InputError('Spark Connect needs additional packages: pip install "pyspark[connect]".') from None
    try:
        session = Remote.builder.remote(url).create()
        session.client.set_retry_policies([DefaultPolicy(max_retries=MOST_TRIES)])
        session.conf.set("spark.sql.caseSensitive", "true")
    except Exception:
        raise InputError(f"Spark Connect at {brief(url)} cannot be reached. Check the address and the token.") from None
    return session


def _why_closed(error: Exception, master: str) -> str:
    if _condition(error) == "JAVA_GATEWAY_EXITED" or isinstance(error, FileNotFoundError):
        return "Spark cannot start without Java 17 or 21. Install Java, or set JAVA_HOME."
    if _is_gone(error):
        return "Spark has stopped. Restart this program."
    return f"Spark at {brief(master)} cannot be reached. Check the address and the network."


def _why_not(error: Exception, cluster: SparkCluster) -> str:
    condition, name = _condition(error), brief(".".join(cluster.name))
    if _is_gone(error):
        return "Spark stopped during the count. Restart this program."
    if condition == "RETRIES_EXCEEDED":
        return "Spark Connect does not respond. Start the count again when it is available."
    if condition.startswith(("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "PATH_NOT_FOUND")):
        return f"Spark has no table {name}."
    if condition.startswith("UNRESOLVED_COLUMN"):
        return CHANGED
    if condition.startswith(("SPARK_JOB_CANCELLED", "OPERATION_CANCELED")) or "cancelled" in str(error):
        return "The count was stopped. Start it again."
    if condition.startswith("FAILED_READ_FILE"):
        return f"A file of the table {name} is missing or damaged. Check the table."
    if condition.startswith(("INSUFFICIENT_PERMISSIONS", "PERMISSION")) or "AccessControlException" in str(error):
        return f"Spark has no permission to read the table {name}."
    return f"The Spark query failed ({condition or type(error).__name__}). Check the types of the columns."


def _condition(error: Exception) -> str:
    """Return Spark's name of an error, "" if it has none."""
    name = getattr(error, "getCondition", lambda: "")()
    return str(name or "")


def _is_gone(error: Exception) -> bool:
    """Whether the driver or the server has stopped."""
    names, text = {kind.__name__ for kind in type(error).__mro__}, str(error)
    # For a call that was running, py4j reports only its failure; an error from Java has a trace.
    is_silent = type(error).__name__ == "Py4JError" and "Trace:" not in text
    return is_silent or bool(names & {"Py4JNetworkError", "ConnectionError"}) or "UNAVAILABLE" in text
