"""A ledger in a real PostgreSQL: a server that restarts, connections that are cut, processes that are killed."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpbayes.base.amounts import Rho
from dpbayes.releases import ledger
from dpbayes.releases.commands.main import main
from dpbayes.releases.document.canonical import canonical
from dpbayes.releases.document.signature import PublicKey, Signer
from dpbayes.releases.ledger import postgres
from dpbayes.releases.ledger.store import written
from tests.engines.servers import Postgres
from tests.releases.ledger.drawing import Drawing, raising
from tests.releases.ledger.places import IN_POSTGRESQL, ON_BOTH, database
from tests.releases.ledger.test_at_once import at_once
from tests.test_docs import ROOT

pytestmark = pytest.mark.engines

TENTH = Fraction(1, 10)


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Connect to a ledger's database as its owner does."""
    import psycopg

    with closing(psycopg.connect(ledger.place_text(path), autocommit=True)) as connection:
        yield connection


def refused(path: Path, match: str, error: type[ledger.LedgerError] = ledger.LedgerError) -> None:
    """Check that spending is refused with a sentence, and that nothing is drawn."""
    draw = Drawing()
    with pytest.raises(error, match=match) as refusal:
        ledger.spend(path, "votes", TENTH, b"refused", draw)
    assert "\n" not in str(refusal.value)
    assert draw.calls == []


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "RETRY_SECONDS", 0.3)


# Where it is


def test_no_message_contains_the_password_of_the_environment(server: Postgres, impatient, monkeypatch, capfd) -> None:
    path = database(server)
    for change in ({"PGPASSWORD": "not the password"}, {"PGPASSWORD": ""}, {}):
        for name, value in change.items():
            monkeypatch.setenv(name, value)
        for words in (["list"], ["check"], ["open", "votes", "--budget", "1", "--reason", "None."]):
            main(["ledger", "--ledger", str(path), *words])
    monkeypatch.setenv("PGPASSWORD", server.password)
    assert main(["ledger", "--ledger", str(path), "open", "votes", "--budget", "1", "--reason", "A budget."]) == 0
    assert main(["ledger", "--ledger", str(path), "list"]) == 0
    out, err = capfd.readouterr()
    assert "rejects the password" in err
    assert "needs a password" in err
    assert f"votes is open in {server.address(database=path.name)}." in out
    assert server.password not in out + err
    assert "not the password" not in out + err


def test_a_server_that_cannot_be_reached_is_named(server: Postgres, impatient) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    refused(Path(f"postgresql://ann@127.0.0.1:{port}/privacy"), "cannot be reached")
    refused(Path(server.address(database="nowhere")), 'has no database "nowhere"')


def test_a_database_without_a_ledger_is_left_alone(server: Postgres) -> None:
    path = database(server)
    assert not ledger.exists(path)
    refused(path, r"^There is no ledger in postgresql://.* yet; open a dataset in it first\.$")
    with opened(path) as connection:
        assert connection.execute("select count(*) from pg_namespace where nspname = 'dpbayes'").fetchone() == (0,)
    ledger.open_dataset(path, "votes", Fraction(1), reason="A budget.")
    assert ledger.exists(path)


def test_another_encoding_is_refused(server: Postgres) -> None:
    with server.connect() as connection:
        connection.execute("create database latin encoding 'LATIN1' locale 'C' template template0")
    with pytest.raises(ledger.LedgerError, match=r"has the encoding LATIN1\. A ledger needs UTF8"):
        ledger.open_dataset(Path(server.address(database="latin")), "votes", Fraction(1), reason="A budget.")


# What guards it


@IN_POSTGRESQL
@pytest.mark.parametrize(
    "statement",
    [
        "update dpbayes.event set amount = '9' where \"row\" = 2",
        "delete from dpbayes.event",
        "truncate dpbayes.event",
        "insert into dpbayes.event select 99, kind, dataset, amount, delta, n, reason, reservation, content_hash, time,"
        ' previous, hash, content from dpbayes.event where "row" = 2',
    ],
)
def test_the_database_itself_refuses_changes(path: Path, statement: str) -> None:
    import psycopg

    with opened(path) as connection, pytest.raises(psycopg.errors.RaiseException, match="rows are"):
        connection.execute(statement)
    assert ledger.check(path).rows == 2


@IN_POSTGRESQL
@pytest.mark.parametrize(
    "statement",
    [
        "drop trigger never_changed on dpbayes.event",
        "alter table dpbayes.event disable trigger only_added",
        "create or replace function dpbayes.never_changed() returns trigger language plpgsql as"
        " 'begin return new; end'",
        "alter table dpbayes.event add column more text",
        "alter table dpbayes.event alter column hash drop not null",
        "alter table dpbayes.event enable row level security",
        "create rule hide as on insert to dpbayes.event do instead nothing",
        "create trigger another before insert on dpbayes.event for each row execute function dpbayes.only_added()",
    ],
)
def test_guards_that_were_changed_are_noticed(path: Path, statement: str) -> None:
    with opened(path) as connection:
        connection.execute(statement)
    refused(path, "^The table or triggers of the ledger .* were changed", ledger.BrokenLedgerError)
    with pytest.raises(ledger.BrokenLedgerError, match="were changed"):
        ledger.check(path)


@IN_POSTGRESQL
@pytest.mark.parametrize(
    ("statement", "row"),
    [
        ("update dpbayes.event set amount = '9' where \"row\" = 2", 2),
        ("update dpbayes.event set content = '\\x00' where \"row\" = 4", 4),
        ('update dpbayes.event set content = null where "row" = 4', 4),
        ("update dpbayes.event set reason = 'x' where \"row\" = 1", 1),
        ('update dpbayes.event set n = 3 where "row" = 3', 3),
        ('delete from dpbayes.event where "row" = 3', 3),
    ],
)
def test_an_edited_row_is_named(path: Path, statement: str, row: int) -> None:
    ledger.spend(path, "votes", TENTH, b"q", Drawing())
    with opened(path) as connection:
        connection.execute("alter table dpbayes.event disable trigger user")
        connection.execute(statement)
        connection.execute("alter table dpbayes.event enable trigger user")
    with pytest.raises(ledger.BrokenLedgerError, match=f"^Row {row} of the ledger is invalid"):
        ledger.check(path)


@IN_POSTGRESQL
def test_another_table_and_another_version_are_named(path: Path, server: Postgres) -> None:
    with opened(path) as connection:
        connection.execute("comment on table dpbayes.event is 'dpbayes ledger, version 5'")
    refused(path, "has version 5, and this program reads version 4 in PostgreSQL", ledger.BrokenLedgerError)
    other = database(server)
    with opened(other) as connection:
        connection.execute("create schema dpbayes create table event (name text)")
    refused(other, "belongs to another program", ledger.BrokenLedgerError)
    with pytest.raises(ledger.BrokenLedgerError, match="belongs to another program"):
        ledger.open_dataset(other, "votes", Fraction(1), reason="None.")


@IN_POSTGRESQL
def test_the_audit_log_is_in_the_database_and_its_rows_are_never_changed(path: Path) -> None:
    import psycopg

    ledger.record_access(path, "ada", "read the ledger")
    ledger.record_access(path, "ben", "made a release", "votes")
    assert [(row.person, row.act, row.dataset) for row in ledger.accesses(path)] == [
        ("ada", "read the ledger", ""),
        ("ben", "made a release", "votes"),
    ]
    for statement in ("update dpbayes.access set person = 'eve'", "delete from dpbayes.access"):
        with opened(path) as connection, pytest.raises(psycopg.Error, match="never changed"):
            connection.execute(statement)
    with opened(path) as connection:
        connection.execute("drop trigger never_changed on dpbayes.access")
    refused(path, "were changed", ledger.BrokenLedgerError)


def as_user(path: Path, server: Postgres, name: str, *rights: str) -> Path:
    """Return the ledger's address for a new user with these rights."""
    with opened(path) as connection:
        connection.execute(f"create role {name} login password '{server.password}'")
        for right in rights:
            connection.execute(f"{right} {name}")
    return Path(server.address(user=name, database=path.name))


@IN_POSTGRESQL
def test_a_curator_needs_to_read_and_to_add_and_no_more(path: Path, server: Postgres) -> None:
    import psycopg

    rights = ("grant usage on schema dpbayes to", "grant select, insert on dpbayes.event to")
    curator = as_user(path, server, "curator", *rights)
    ledger.spend(curator, "votes", TENTH, b"q", Drawing())
    assert ledger.check(curator).rows == 4
    for statement in ("alter table dpbayes.event disable trigger user", "delete from dpbayes.event"):
        with opened(curator) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)
    reader = as_user(path, server, "auditor", rights[0], "grant select on dpbayes.event to")
    assert ledger.account_of(reader, "votes").left == Fraction(9, 10)
    refused(reader, r"needs these privileges: USAGE on the schema dpbayes, SELECT and INSERT")
    with pytest.raises(ledger.LedgerError, match="needs these privileges"):
        ledger.accounts(as_user(path, server, "stranger"))


@IN_POSTGRESQL
def test_a_standby_is_refused_and_commits_are_waited_for(path: Path, server: Postgres) -> None:
    with opened(path) as connection:
        connection.execute(f"alter database {path.name} set default_transaction_read_only = on")
    refused(path, r"is read-only\. Name the primary server")
    with opened(path) as connection:
        connection.execute("set default_transaction_read_only = off")
        connection.execute(f"alter database {path.name} set default_transaction_read_only = off")
        connection.execute(f"alter database {path.name} set synchronous_commit = off")
    seen = []
    ledger.spend(path, "votes", TENTH, b"q", Drawing())
    with postgres._connected(ledger.place.server_of(path), time.monotonic()) as connection:
        seen.append(connection.execute("show synchronous_commit").fetchone()[0])
    assert seen == ["on"]


# Several at once


@IN_POSTGRESQL
def test_without_the_lock_the_transactions_are_serialisable_and_repeated(path: Path, monkeypatch) -> None:
    """As behind a proxy that gives each transaction another session."""
    overtaken = []
    is_overtaken = postgres._is_overtaken

    def counted(error: Any) -> bool:
        overtaken.append(is_overtaken(error))
        return overtaken[-1]

    monkeypatch.setattr(postgres, "_wait_for_others", lambda _: None)
    monkeypatch.setattr(postgres, "_is_overtaken", counted)
    monkeypatch.setattr(postgres, "RETRY_SECONDS", 60.0)
    ends, draws = at_once(path, [b"%d" % k for k in range(20)])
    assert (ends, draws) == ({"released": 10, "OverBudgetError": 10}, 10)
    assert any(overtaken), "nobody was in the way of anybody"
    assert ledger.check(path).rows == 22


@IN_POSTGRESQL
def test_a_writer_that_does_not_end_is_not_waited_for_forever(path: Path, monkeypatch) -> None:
    monkeypatch.setattr(postgres, "LOCK_SECONDS", 1)
    with opened(path) as other:
        other.execute("select pg_advisory_lock(%s)", (postgres.LOCK,))
        refused(path, r"^Another program is writing to the ledger .*; try again when it is done\.$")
        assert ledger.check(path).rows == 2
    ledger.spend(path, "votes", TENTH, b"q", Drawing())


SPEND = """
import sys
import time
from fractions import Fraction
from pathlib import Path
from dpbayes.releases import ledger

path, name = Path(sys.argv[1]), sys.argv[2]
ledger.accounts(path)
print("ready", flush=True)
for k in range(100):
    question = f"{k} of {name}".encode()
    def draw():
        print("drawn", flush=True)
        time.sleep(0.02)  # so that kills hit reservations that are open
        return question
    try:
        ledger.spend(path, "votes", Fraction(1, 20), question, draw)
        print("shown", flush=True)
    except ledger.OverBudgetError:
        break
"""


@ON_BOTH
def test_processes_that_are_killed_at_any_moment_never_spend_more_than_the_budget(path: Path) -> None:
    rng, lines, started = random.Random(5), [], 0
    while ledger.account_of(path, "votes").left and started < 100:
        processes = []
        for _ in range(4):
            started += 1
            command = [sys.executable, "-c", SPEND, str(path), str(started)]
            processes.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True))
        for process in processes:
            process.stdout.readline()
        for process in processes:
            time.sleep(rng.uniform(0, 0.1))
            process.send_signal(signal.SIGKILL)
        lines += [line for process in processes for line in process.communicate()[0].splitlines()]
    ledger.check(path)
    account = ledger.account_of(path, "votes")
    spendings = ledger.spendings(path, "votes")
    assert account.left == 0
    assert account.spent == 1
    assert len(spendings) == 20
    assert lines.count("drawn") <= len(spendings)
    assert lines.count("shown") <= sum(spending.release is not None for spending in spendings)
    assert any(spending.release is None for spending in spendings), "no kill hit a reservation"
    refused(path, "has 0 left of 1", ledger.OverBudgetError)


@pytest.mark.parametrize("kind", ["spend", "fail", "open"])
def test_a_process_is_killed_before_each_of_its_statements(server: Postgres, tmp_path: Path, kind: str) -> None:
    start = database(server)
    if kind != "open":
        ledger.open_dataset(start, "votes", Fraction(1), reason="A budget.")
    command = [sys.executable, "-m", "tests.releases.ledger.killed", str(tmp_path), kind, ledger.place_text(start)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    ends = []
    for k in range(int(done.stdout)):
        path = Path(f"{start}_{k}")
        drawn, shown = (tmp_path / str(k) / name for name in ("drawn", "shown"))
        if kind == "open" and (not ledger.exists(path) or not ledger.accounts(path)):
            assert not shown.exists()
            ledger.open_dataset(path, "votes", Fraction(1), reason="Once more.")
        spendings = ledger.spendings(path, "votes")
        account = ledger.account_of(path, "votes")
        assert not drawn.exists() or drawn.read_bytes() == b"outcome"
        assert account.spent == TENTH or not drawn.exists()
        assert account.released == (TENTH if kind == "spend" and spendings and spendings[0].release else 0)
        assert account.released or kind != "spend" or not shown.exists()
        ends.append((len(spendings), drawn.exists(), *(spending.state for spending in spendings), shown.exists()))
        row = spendings[0].row if spendings else 0
        if not account.released:
            ledger.spend(path, "votes", TENTH, b"q", Drawing(b"again"), after=row)
        assert ledger.account_of(path, "votes").spent == TENTH * len(ledger.spendings(path, "votes"))
        ledger.check(path)
    assert len(ends) > 10
    if kind == "spend":
        before, reserved = (0, False, False), (1, False, "reserved, no release", False)
        drawn_in_vain, released = (1, True, "reserved, no release", False), (1, True, "released", False)
        assert list(dict.fromkeys(ends)) == [before, reserved, drawn_in_vain, released, (1, True, "released", True)]


# A server that restarts


@IN_POSTGRESQL
def test_a_server_that_restarts_between_charges_and_within_one_loses_and_doubles_nothing(
    path: Path, server: Postgres
) -> None:
    def restart() -> bytes:
        server.stop()
        server.start()
        return b"outcome"

    ledger.spend(path, "votes", TENTH, b"first", Drawing())
    restart()
    ledger.spend(path, "votes", TENTH, b"second", Drawing())
    draw = Drawing(instead=restart)
    ledger.spend(path, "votes", TENTH, b"third", draw)
    assert len(draw.calls) == 1
    assert ledger.account_of(path, "votes").released == 3 * TENTH
    assert ledger.check(path).rows == 8


@IN_POSTGRESQL
def test_a_server_that_is_down_for_a_while_is_waited_for(path: Path, server: Postgres) -> None:
    server.stop()
    later = threading.Timer(1.0, server.start)
    later.start()
    try:
        ledger.spend(path, "votes", TENTH, b"q", Drawing())
    finally:
        later.join()
    assert ledger.check(path).rows == 4


@IN_POSTGRESQL
def test_a_server_that_ends_while_drawing_keeps_the_charge_and_says_so(path: Path, server: Postgres, impatient) -> None:
    def stop() -> bytes:
        server.stop()
        return b"outcome"

    try:
        with pytest.raises(
            ledger.EpsilonLostError,
            match=r"cannot be reached.*\. Nothing was released, and the ε = 0\.1 .* 3 stays",
        ):
            ledger.spend(path, "votes", TENTH, b"q", stop)
        refused(path, "cannot be reached")
    finally:
        server.start()
    account = ledger.account_of(path, "votes")
    assert (account.reserved, account.released) == (TENTH, 0)
    ledger.spend(path, "votes", TENTH, b"q", Drawing(), after=3)
    assert ledger.check(path).rows == 5


def test_threads_that_spend_while_the_server_restarts_spend_the_budget_and_no_more(server: Postgres) -> None:
    path = database(server)
    ledger.open_dataset(path, "votes", Fraction(1), reason="A budget.")
    stop = threading.Event()

    def restart() -> None:
        while not stop.is_set():
            time.sleep(0.3)
            server.stop()
            server.start()

    restarting = threading.Thread(target=restart)
    restarting.start()
    try:
        ends, draws = at_once(path, [b"%d" % k for k in range(20)])
    finally:
        stop.set()
        restarting.join()
    account = ledger.account_of(path, "votes")
    assert account.spent == TENTH * len(ledger.spendings(path, "votes")) <= 1
    assert draws == len(ledger.spendings(path, "votes"))
    assert ends["released"] == sum(spending.release is not None for spending in ledger.spendings(path, "votes"))
    ledger.check(path)


# A connection that is cut during a commit


class Cut:
    """A proxy before the server that cuts the first `times` connections at their commit, or that of the n-th."""

    def __init__(self, port: int, *, forwards: bool, skipped: int = 0, times: int = 1) -> None:
        self.port, self.forwards, self.skipped, self.left = port, forwards, skipped, times
        self.is_down, self.muted = False, set[socket.socket]()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.is_down:
                client.close()
                continue
            upstream = socket.create_connection(("127.0.0.1", self.port))
            threading.Thread(target=self.pump, args=(client, upstream, True), daemon=True).start()
            threading.Thread(target=self.pump, args=(upstream, client, False), daemon=True).start()

    def pump(self, source: socket.socket, target: socket.socket, is_client: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if is_client and b"commit\0" in data and self.left:
                    if self.skipped:
                        self.skipped -= 1
                    else:
                        self.left -= 1
                        if self.forwards:
                            self.muted.add(source)
                            target.sendall(data)
                            time.sleep(0.2)
                        break
                if target not in self.muted:
                    target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@pytest.fixture
def cut(server: Postgres) -> Iterator[Callable[..., tuple[Cut, Path]]]:
    """A function that returns a proxy, and the address of a ledger through it."""
    proxies = []

    def through(path: Path, **how: Any) -> tuple[Cut, Path]:
        proxies.append(Cut(server.port, **how))
        return proxies[-1], Path(str(path).replace(f":{server.port}/", f":{proxies[-1].address}/"))

    yield through
    for proxy in proxies:
        proxy.listener.close()


@IN_POSTGRESQL
@pytest.mark.parametrize("forwards", [True, False], ids=["after it was sent", "before it was sent"])
@pytest.mark.parametrize("skipped", [0, 1], ids=["of the reservation", "of the release"])
def test_a_commit_whose_answer_is_lost_is_neither_lost_nor_doubled(path: Path, cut, *, forwards, skipped) -> None:
    proxy, through = cut(path, forwards=forwards, skipped=skipped)
    draw = Drawing()
    release = ledger.spend(through, "votes", TENTH, b"q", draw)
    assert proxy.left == 0
    assert len(draw.calls) == 1
    assert release == ledger.events(path)[-1]
    assert ledger.check(path).rows == 4
    assert ledger.account_of(path, "votes").released == TENTH


@IN_POSTGRESQL
@pytest.mark.parametrize("forwards", [True, False], ids=["after it was sent", "before it was sent"])
@pytest.mark.parametrize("skipped", [0, 1], ids=["of the reservation", "of the release"])
def test_a_commit_that_nobody_knows_of_is_said_to_be_unknown(path: Path, cut, impatient, *, forwards, skipped) -> None:
    proxy, through = cut(path, forwards=forwards, skipped=skipped)
    pump = proxy.pump

    def pump_and_end(*arguments: Any) -> None:
        pump(*arguments)
        proxy.is_down = proxy.is_down or not proxy.left

    proxy.pump = pump_and_end
    draw = Drawing()
    with pytest.raises(ledger.LedgerError, match="ended while a row was being written") as refusal:
        ledger.spend(through, "votes", TENTH, b"q", draw)
    assert type(refusal.value) is (ledger.EpsilonLostError if skipped else ledger.UnknownWriteError)
    assert len(draw.calls) == skipped
    rows = 2 + skipped + forwards
    assert ledger.check(path).rows == rows
    account = ledger.account_of(path, "votes")
    assert account.spent == (TENTH if rows > 2 else 0)
    entry = ledger.find(path, "votes", b"q")
    assert (entry is not None) == (rows == 4)


@IN_POSTGRESQL
def test_a_connection_that_the_server_ends_is_made_again(path: Path) -> None:
    def terminate() -> bytes:
        with opened(path) as connection:
            connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
                " and pid <> pg_backend_pid()"
            )
        return b"outcome"

    ledger.spend(path, "votes", TENTH, b"q", terminate)
    assert ledger.check(path).rows == 4


# Moving


def filled(path: Path) -> Path:
    """Fill a ledger with every kind of row but the last."""
    ledger.open_dataset(path, "vötes", Fraction(1), reason="A budget.\nIn two lines, with \\ and ’.", n=5)
    ledger.spend(path, "vötes", TENTH, b"question", Drawing(bytes(range(256))))
    ledger.raise_budget(path, "vötes", Fraction(3, 2), reason="More.")
    with suppress(ledger.EpsilonLostError):
        ledger.spend(path, "vötes", Fraction(1, 3), b"another", raising(ValueError()))
    ledger.open_dataset(path, "clinic", Rho(TENTH), reason="A budget in rho.")
    ledger.spend(path, "clinic", Rho(TENTH), b"fifth", Drawing(b"fifth outcome"))
    ledger.name_key(path, canonical(Signer("Ann", PublicKey("11" * 32)).content), reason="The first key.")
    return path


@pytest.mark.parametrize("to", ["postgresql", "sqlite"])
def test_a_moved_ledger_has_all_rows_and_the_old_one_takes_no_more(server: Postgres, tmp_path: Path, to: str) -> None:
    places = [tmp_path / "ledger.sqlite", database(server)]
    source, target = places if to == "postgresql" else places[::-1]
    before = ledger.events(filled(source))
    outcome = ledger.outcome(source, 3)
    head = ledger.move_ledger(source, target)
    assert ledger.events(target) == before
    assert head == before[-1]
    assert ledger.outcome(target, 3) == outcome == bytes(range(256))
    assert ledger.check(target, seen=[head.hash]).rows == len(before)
    assert ledger.check(source).rows == len(before) + 1
    with pytest.raises(ledger.LedgerError, match=r"^This ledger was moved in row \d+ and accepts no more .* It is now"):
        ledger.spend(source, "vötes", TENTH, b"new", Drawing())
    with pytest.raises(ledger.LedgerError, match=r"^This ledger was already moved\. It is now"):
        ledger.move_ledger(source, target)
    ledger.spend(target, "vötes", TENTH, b"new", Drawing())
    assert ledger.account_of(target, "vötes").left == Fraction(3, 2) - 2 * TENTH - Fraction(1, 3)


def interrupted(act: Callable[..., Any]) -> Callable[..., Any]:
    """Do something and end as if by the keyboard."""

    def done(*args: Any) -> Any:
        act(*args)
        raise KeyboardInterrupt

    return done


def test_a_move_that_was_interrupted_goes_on(server: Postgres, tmp_path: Path, monkeypatch) -> None:
    source, target = filled(tmp_path / "ledger.sqlite"), database(server)
    ledger.record_access(source, "ada", "read the ledger")
    with monkeypatch.context() as patch:
        patch.setattr("dpbayes.releases.ledger.moving.written", interrupted(written))
        with pytest.raises(KeyboardInterrupt):
            ledger.move_ledger(source, target)
    for path in (source, target):  # at no time do both accept charges
        with pytest.raises(ledger.LedgerError):
            ledger.spend(path, "vötes", TENTH, b"new", Drawing())
    ledger.move_ledger(source, target)
    assert ledger.check(source).rows == ledger.check(target).rows + 1
    assert ledger.accesses(target) == ledger.accesses(source) != ()


def test_a_ledger_is_not_moved_onto_another_or_onto_itself(server: Postgres, tmp_path: Path) -> None:
    source, target = filled(tmp_path / "ledger.sqlite"), filled(database(server))
    rows = ledger.check(source).rows
    with pytest.raises(ledger.LedgerError, match=r"has a ledger already\. Nothing was moved"):
        ledger.move_ledger(source, target)
    for same in (source, tmp_path / "." / "ledger.sqlite"):
        with pytest.raises(ledger.LedgerError, match="is already"):
            ledger.move_ledger(source, same)
    with pytest.raises(ledger.LedgerError, match="is already"):
        ledger.move_ledger(target, target)
    with pytest.raises(ledger.LedgerError, match="There is no ledger"):
        ledger.move_ledger(tmp_path / "nowhere", database(server))
    assert ledger.check(source).rows == ledger.check(target).rows == rows


def test_a_copy_that_differs_is_noticed_and_the_old_ledger_stays_open(server: Postgres, tmp_path: Path, monkeypatch):
    source, target = filled(tmp_path / "ledger.sqlite"), database(server)
    append = postgres.PostgresRows.append

    def spoiled(self: Any, values: dict, version: int) -> None:
        append(self, values | {"content": values["content"] and values["content"] + b"0"}, version)

    monkeypatch.setattr(postgres.PostgresRows, "append", spoiled)
    with pytest.raises(ledger.LedgerError):
        ledger.move_ledger(source, target)
    ledger.spend(source, "vötes", TENTH, b"new", Drawing())


def test_a_ledger_is_moved_by_command(server: Postgres, tmp_path: Path, capsys) -> None:
    source, target = filled(tmp_path / "ledger.sqlite"), database(server)
    head = ledger.check(source).head
    assert main(["ledger", "--ledger", str(source), "move", "--to", ledger.place_text(target)]) == 0
    said = capsys.readouterr().out
    assert f"All 11 rows are in {ledger.place_text(target)}, with the same contents." in said
    assert f"The hash of the last row is {head}" in said
    assert main(["ledger", "--ledger", ledger.place_text(target), "check", "--seen", head]) == 0
    assert os.environ["PGPASSWORD"] not in said
