"""A server reads what its owner named, and nothing else, whatever a visitor types."""

from pathlib import Path

import pytest

from dpbayes.base.validation import InputError
from dpbayes.ui.session.connections import (
    CONNECT,
    DATA_ROOT,
    FILES,
    Connections,
    connection_names,
    connections,
    listed_files,
    read_connections,
)
from dpbayes.ui.session.link import settings_from
from dpbayes.ui.session.settings import Settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A data root with a file, a folder, links that stay inside and links that lead out; and what lies outside."""
    inside, outside = tmp_path / "data", tmp_path / "secret"
    (inside / "2026" / "june").mkdir(parents=True)
    outside.mkdir()
    for place in (inside / "a.parquet", inside / "2026" / "june" / "b.parquet", outside / "c.parquet"):
        place.write_bytes(b"PAR1")
    (inside / "base.duckdb").write_bytes(b"")
    (inside / "notes.csv").write_text("a,b\n")
    (inside / "alias.parquet").symlink_to(inside / "a.parquet")
    (inside / "out.parquet").symlink_to(outside / "c.parquet")
    (inside / "outside").symlink_to(outside)
    (inside / "loop").symlink_to(inside / "loop")
    return inside


def test_what_lies_below_the_root_has_an_address(root: Path) -> None:
    server = Connections(root)
    assert server.address(FILES, "a.parquet") == f"parquet:{root / 'a.parquet'}"
    assert server.address(FILES, "./2026/../a.parquet") == f"parquet:{root / 'a.parquet'}"
    assert server.address(FILES, "alias.parquet") == f"parquet:{root / 'a.parquet'}"
    assert server.address(FILES, "2026/june") == f"parquet:{root / '2026/june'}"
    assert server.address(FILES, "base.duckdb") == f"duckdb:{root / 'base.duckdb'}"


ELSEWHERE = (
    "../secret/c.parquet",
    "2026/../../secret/c.parquet",
    "out.parquet",
    "outside/c.parquet",
    "outside",
    "loop",
    "..",
    "/etc/passwd",
    "/",
    "~/c.parquet",
    "",
    " ",
    "nowhere.parquet",
    "a.parquet/../../secret/c.parquet",
    "C:\\secret\\c.parquet",
    "..\\secret\\c.parquet",
    "file:///etc/passwd",
    "file:a.parquet",
    "parquet:/etc",
    "postgresql://db/clinic",
    "x" * 5000,
    "\N{FULLWIDTH FULL STOP}\N{FULLWIDTH FULL STOP}/secret/c.parquet",
)

ENCODED = (
    "%2e%2e/secret/c.parquet",
    "..%2fsecret%2fc.parquet",
    "%252e%252e/secret",
    "a.parquet?table=x",
    "a.parquet#x",
    "*.parquet",
    "a.parquet\0.csv",
    "a\n../secret",
)


@pytest.mark.parametrize("typed", ELSEWHERE)
def test_what_lies_elsewhere_is_refused_in_words_that_tell_not_whether_it_is_there(root: Path, typed: str) -> None:
    with pytest.raises(InputError, match="The data root does not contain") as refused:
        Connections(root).address(FILES, typed)
    assert str(root.parent) not in str(refused.value)


@pytest.mark.parametrize("typed", ENCODED)
def test_signs_of_an_address_are_no_part_of_a_path(root: Path, typed: str) -> None:
    with pytest.raises(InputError, match="has a character"):
        Connections(root).address(FILES, typed)


def test_a_name_that_is_an_address_by_itself_is_refused_though_it_is_there(root: Path) -> None:
    (root / "%2e%2e").mkdir()
    (root / "plain").symlink_to(root / "%2e%2e")
    with pytest.raises(InputError, match="leads to a name"):
        Connections(root).address(FILES, "plain")


def test_a_folder_with_a_link_that_leads_out_is_refused(root: Path) -> None:
    (root / "2026" / "june" / "z.parquet").symlink_to(root.parent / "secret" / "c.parquet")
    with pytest.raises(InputError, match="leads out of the data root"):
        Connections(root).address(FILES, "2026")


def test_other_kinds_of_files_are_refused(root: Path) -> None:
    with pytest.raises(InputError, match="Upload other tables"):
        Connections(root).address(FILES, "notes.csv")


def test_what_can_be_connected_is_listed_without_links(root: Path) -> None:
    assert listed_files(root) == ("2026/june", "2026/june/b.parquet", "a.parquet", "base.duckdb")


def test_a_connection_is_known_by_a_public_name_alone() -> None:
    server = read_connections("", ["clinic=postgresql://reader@db/clinic?table=s.t", "", "spark:local[2]?table=t"])
    assert server.names == ("clinic", "2")
    assert server.address("clinic").endswith("s.t")
    assert "reader" not in repr(server)
    for stranger in ("1", FILES, "postgresql://reader@db/clinic?table=s.t", "clinic?table=other", ""):
        with pytest.raises(InputError, match="no connection called"):
            server.address(stranger, "a.parquet")


@pytest.mark.parametrize(
    ("root", "lines", "why"),
    [
        ("nowhere at all", [], "not a folder"),
        ("", ["a=duckdb:x", "a=duckdb:y"], "Two connections are called"),
        ("", ["files=duckdb:x"], "Two connections are called"),
        ("", ["postgresql://reader:hunter2@db/clinic"], "must not contain a password"),
        ("", ["postgresql://db/clinic?password=hunter2"], "must not contain a password"),
        ("", ["clinic=hunter2"], 'The connection "clinic" cannot be used. An address begins with'),
    ],
)
def test_what_an_owner_cannot_mean_is_a_sentence_without_the_password(root: str, lines: list[str], why: str) -> None:
    with pytest.raises(InputError, match=why) as refused:
        read_connections(root, lines)
    assert "hunter2" not in str(refused.value)


def test_a_link_names_a_connection_of_this_server_and_no_address(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.setenv(DATA_ROOT, str(root))
    monkeypatch.setenv(CONNECT, "clinic=duckdb:/somewhere/clinic.duckdb")
    assert connections().names == connection_names() == ("clinic", FILES)
    for text in ("connected", "connected:clinic", "connected:files"):
        assert settings_from({"data": text, "prior": "capped"}) == (Settings(data=text), ())
    for text in ("connected:1", "connected:../x", "connected:duckdb:/etc/x", "duckdb:/etc/x", f"connected:{root}"):
        settings, problems = settings_from({"data": text})
        assert settings.data == "synthetic"
        assert len(problems) == 1
    monkeypatch.setenv(DATA_ROOT, "nowhere at all")
    assert connection_names() == ()
