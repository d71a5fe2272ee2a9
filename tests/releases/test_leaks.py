"""Nothing computed from a table but the noisy integers and n gets out: not by a file, a word, an error or a log."""

import logging
import re
import traceback
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from dpbayes.__main__ import main
from dpbayes.base.amounts import PrivacyMeasure
from dpbayes.mechanisms import RELEASABLE
from dpbayes.mechanisms.exact_form import opendp
from dpbayes.releases import ledger, publishing, report
from dpbayes.releases.commands import charged, view
from dpbayes.releases.commands.view import VIEWS
from dpbayes.releases.document import read_document
from dpbayes.releases.ledger import store
from dpbayes.releases.output import HOLDS, REFUSED
from dpbayes.releases.publishing import publish
from dpbayes.sources.domains import write_domains
from tests.releases import leaking
from tests.releases.asking import replace_draw
from tests.releases.leaking import COLUMNS, NETWORK, OTHER, TRUE, betrayed, counts_of, frame_of
from tests.releases.made import opened, opened_in_rho, request_with

N = sum(TRUE.values())


class Flow(NamedTuple):
    """All that comes out of making a release and using it: files by name, what was said, and the curator's ledger."""

    files: dict[str, bytes]
    said: str
    ledger: Path


def question(**other: object):
    return request_with(**({"network": NETWORK, "n": N} | other))


def written(folder: Path, table: dict) -> list[str]:
    """Write a table, its domains and its ledger, and return the words of its release."""
    folder.mkdir()
    frame_of(table).to_csv(folder / "table.csv", index=False)
    (folder / "domains.json").write_text(write_domains(COLUMNS), encoding="utf-8")
    return [
        *("release", "--ledger", str(opened(folder)), "--dataset", "garden", "--data", str(folder / "table.csv")),
        *("--domains", str(folder / "domains.json"), "--network", "city -> illness", "--mechanism", "laplace"),
        *("--epsilon", "0.5", "--graph-unseen", "--out", str(folder / "release.json")),
    ]


def flow(folder: Path, table: dict, capsys: pytest.CaptureFixture[str]) -> Flow:
    """Release a table from the command line and run every command on it, the refused ones too."""
    words = written(folder, table)
    path, file, kept = folder / "ledger.sqlite", str(folder / "release.json"), set(folder.iterdir())
    runs = [
        (words, HOLDS),
        (words, REFUSED),
        ([*words, "--force"], HOLDS),
        ([*words, "--force", "--again"], HOLDS),
        ([*words, "--epsilon", "9"], REFUSED),
        ([*words, "--mechanism", "fourier"], REFUSED),
        (["verify", file, "--ledger", str(path)], HOLDS),
        (["ledger", "--ledger", str(path), "list"], HOLDS),
        (["ledger", "--ledger", str(path), "check"], HOLDS),
        (["ledger", "--ledger", str(path), "export", "4", "--out", str(folder / "again.json")], HOLDS),
        (["ledger", "--ledger", str(path), "export", "3", "--out", str(folder / "no.json")], REFUSED),
        *((["view", file, "--seed", "1", "--out", str(folder / f"view{ending}")], HOLDS) for ending in VIEWS),
        (["view", file, "--records", "-1", "--out", str(folder / "no.csv")], REFUSED),
    ]
    for run, code in runs:
        assert main(run) == code, run
    files = {file.name: file.read_bytes() for file in sorted(set(folder.iterdir()) - kept) if "sqlite" not in file.name}
    said = capsys.readouterr()
    return Flow(files, (said.out + said.err).replace(str(folder), "FOLDER"), path)


def timeless(text: str) -> str:
    """Leave out moments and hashes: those of the ledger's rows, and of what has the moment in it."""
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "MOMENT", text)
    return re.sub(r"\b[0-9a-f]{64}\b", "HASH", text)


def differing(one: Flow, other: Flow) -> set[str]:
    """Return the names of what tells two flows apart, "said" among them."""
    assert one.files.keys() == other.files.keys()
    texts = [{file: timeless(data.decode()) for file, data in run.files.items()} for run in (one, other)]
    names = {file for file in one.files if texts[0][file] != texts[1][file]}
    return names | ({"said"} if timeless(one.said) != timeless(other.said) else set())


def flows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[Flow, Flow]:
    leaking.without_chance(monkeypatch)
    return flow(tmp_path / "true", TRUE, capsys), flow(tmp_path / "other", OTHER, capsys)


def test_of_two_tables_with_the_same_integers_nothing_that_comes_out_differs(tmp_path, monkeypatch, capsys, caplog):
    caplog.set_level(logging.DEBUG)
    true, other = flows(tmp_path, monkeypatch, capsys)
    assert set(true.files) == {"release.json", "again.json", *(f"view{ending}" for ending in VIEWS)}
    assert not differing(true, other)
    counts = counts_of(TRUE)
    for file, data in true.files.items():
        assert not betrayed(data.decode(), counts), file
    assert not betrayed(true.said + caplog.text, counts)


def test_neither_the_ledgers_key_nor_a_print_of_the_table_gets_out(tmp_path, monkeypatch, capsys, caplog):
    caplog.set_level(logging.DEBUG)
    leaking.without_chance(monkeypatch)
    true = flow(tmp_path / "true", TRUE, capsys)
    kinds = (ledger.EventKind.BEGUN, ledger.EventKind.TABLE)
    rows = [event for event in ledger.read_books(true.ledger).events if event.kind in kinds]
    assert len(rows) == 2
    with store.reading(true.ledger) as (connection, _):
        secrets = [connection.content(row) for row in rows]
    out = [*true.files.values(), (true.said + caplog.text).encode()]
    for secret in [*secrets, *(secret.hex().encode() for secret in secrets)]:
        assert secret
        assert not any(secret in data for data in out)
    hashes = {row.content_hash for row in rows} | {row.hash for row in rows}
    assert not any(row.encode() in data for row in hashes if row for data in out)


# The looks above see what they are there to see


def _in_the_document(patch: pytest.MonkeyPatch) -> None:
    real = publishing.document_bytes
    patch.setattr(
        publishing,
        "document_bytes",
        lambda *given: real(*given).replace(b'"python":"', b'"python":"' + str(SEEN[-1].values[0]).encode() + b" "),
    )


def _in_what_is_said(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ledger.Account, "left_text", property(lambda _: str(SEEN[-1].values.max())))


def _in_the_report(patch: pytest.MonkeyPatch) -> None:
    real = report.html_report
    paragraph = "<p>{}</p>".format
    patch.setattr(view, "html_report", lambda *given, **more: real(*given, **more) + paragraph(SEEN[-1].values[3] / N))


SEEN: list = []


@pytest.mark.parametrize(
    ("broken", "where"),
    [(_in_the_document, "release.json"), (_in_what_is_said, "said"), (_in_the_report, "view.html")],
)
def test_a_count_that_got_out_would_be_seen(
    tmp_path, monkeypatch, capsys, broken: Callable[[pytest.MonkeyPatch], None], where
):
    counted = charged.count
    monkeypatch.setattr(charged, "count", lambda *given: SEEN.append(counted(*given)) or SEEN[-1])
    broken(monkeypatch)
    if where == "release.json":  # what says another thing than its numbers is refused before there are views
        leaking.without_chance(monkeypatch)
        texts = []
        for table in (TRUE, OTHER):
            folder = tmp_path / str(len(texts))
            assert main(written(folder, table)) == HOLDS
            texts.append(timeless((folder / "release.json").read_text()))
        assert texts[0] != texts[1]
        assert betrayed(texts[0], counts_of(TRUE))
        return
    true, other = flows(tmp_path, monkeypatch, capsys)
    assert where in differing(true, other)


@pytest.mark.parametrize("text", ["6271", "6,271", "n=5903.", f"{6271 / 13553!r}", f"[{1380 / 13556!r}]", "4337\n"])
def test_a_count_and_a_true_share_are_known_when_they_are_seen(text):
    assert betrayed(text, counts_of(TRUE))


@pytest.mark.parametrize("text", ["16271", "a6271b", "0.5", f"{N:,}", "62.71", "6278"])
def test_other_numbers_betray_nothing(text):
    assert not betrayed(text, counts_of(TRUE))


# A draw that fails in the middle


def chain(error: BaseException | None) -> list[BaseException]:
    """Return an error and all that it came from, whether it would be shown or not."""
    return [] if error is None else [error, *chain(error.__cause__), *chain(error.__context__)]


def test_a_draw_that_fails_tells_nothing_of_what_it_was_given(tmp_path, monkeypatch, caplog):
    """OpenDP quotes the counts; neither the sentence, its traceback, what it came from, the ledger nor a log does."""
    caplog.set_level(logging.DEBUG)
    counts, path = counts_of(TRUE), opened(tmp_path)
    leaking.failing_draw(monkeypatch)
    with pytest.raises(ledger.EpsilonLostError) as lost:
        publish(path, question(), counts)
    logging.getLogger("dpbayes").error("A part of the page failed.", exc_info=lost.value)
    texts = [*traceback.format_exception(lost.value), *map(repr, chain(lost.value)), caplog.text]
    assert not betrayed("\n".join(texts), counts)
    assert "RuntimeError" in str(lost.value)
    assert ledger.read_books(path).events[-1].kind is ledger.EventKind.RESERVED
    for file in tmp_path.iterdir():
        assert not betrayed(file.read_bytes().decode(errors="replace"), counts), file.name


def test_a_command_that_fails_in_the_middle_says_one_sentence(tmp_path, monkeypatch, capfd, caplog):
    caplog.set_level(logging.DEBUG)
    words = written(tmp_path / "true", TRUE)
    leaking.failing_draw(monkeypatch)
    assert main(words) == REFUSED
    said = capfd.readouterr()
    assert "stays charged" in said.err
    assert "Traceback" not in said.err
    assert not betrayed(said.out + said.err + caplog.text, counts_of(TRUE))
    assert not (tmp_path / "true" / "release.json").exists()


# Where the noise comes from


@pytest.mark.parametrize("mechanism", RELEASABLE)
def test_no_randomness_but_opendps_is_used(tmp_path, monkeypatch, mechanism):
    is_binary = mechanism == "fourier"
    network = leaking.BINARY if is_binary else NETWORK
    counts = leaking.binary_counts() if is_binary else counts_of(TRUE)
    in_rho = RELEASABLE[mechanism].noise.measure is PrivacyMeasure.RHO
    path = opened_in_rho(tmp_path) if in_rho else opened(tmp_path)
    loss = {"rho": Fraction(1, 2)} if in_rho else {}
    request = question(mechanism=mechanism, network=network, n=counts.n, **loss)
    opendp()
    with leaking.no_other_randomness(monkeypatch):
        data = publish(path, request, counts).document
    assert len(read_document(data).sampled.integers) == request.entry.length(request)


def test_another_source_of_randomness_would_be_noticed(tmp_path, monkeypatch):
    def drawn(values, scales):
        return tuple((values + np.random.default_rng(1).integers(0, 9, len(values))).tolist())

    path = opened(tmp_path)
    replace_draw(monkeypatch, drawn)
    with leaking.no_other_randomness(monkeypatch), pytest.raises(ledger.EpsilonLostError, match="AssertionError"):
        publish(path, question(), counts_of(TRUE))


def test_a_seed_of_numpy_does_not_fix_a_release(tmp_path):
    path, integers, row = opened(tmp_path), [], 0
    for _ in range(2):
        np.random.seed(1)  # noqa: NPY002 - what somebody else's code may do
        published = publish(path, question(epsilon=Fraction(1, 100)), counts_of(TRUE), after=row)
        integers.append(read_document(published.document).sampled.integers)
        row = published.row
    assert integers[0] != integers[1]
