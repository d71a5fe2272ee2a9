"""A class on a real server: its visitors have neither ledger, connections and releases, nor the uploads of others."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

from dpbayes.releases import ledger
from dpbayes.ui.server import serve
from dpbayes.ui.session.connections import DATA_ROOT
from dpbayes.ui.session.roles import REFUSALS, UPLOADS, Act, cookie_name
from tests.browser.serving import CURATORS, ROOT, free_port, server_process
from tests.wire import button, connected, cookies, received, run, sent_file, texts, widget

DATASET, ANIMAL = "orchard-9", "quagga-4711"


@dataclass(frozen=True)
class School:
    """A server for a class: its address in the network, the curator's, and the ledger."""

    url: str
    curators_url: str
    ledger: Path

    @property
    def curator(self) -> dict[str, str]:
        return {"Cookie": f"{cookie_name(self.curators_url)}={CURATORS}"}


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[School]:
    """A class served by `dpbayes --class`; without a network, this computer's own address is that of the class."""
    folder, port = tmp_path_factory.mktemp("class"), free_port()
    address = serve.local_address() or serve.HOST
    path = folder / "ledger.sqlite"
    ledger.open_dataset(path, DATASET, Fraction(1), reason="for a test")
    (folder / "tables").mkdir()
    pd.DataFrame({"animal": [ANIMAL, "okapi"]}).to_parquet(folder / "tables" / "animals.parquet")
    script = (
        "import sys; from dpbayes.__main__ import main; from dpbayes.ui.server import serve\n"
        f"serve.local_address = lambda: {address!r}\n"
        f"sys.exit(main(['--class', '--port', '{port}']))"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPBAYES_LEDGER", str(path))
        patch.setenv(DATA_ROOT, str(folder / "tables"))
        patch.delenv(UPLOADS, raising=False)
        url = f"http://{address}:{port}"
        with server_process([sys.executable, "-c", script], url, cwd=ROOT, path=ROOT):
            yield School(url, f"http://{serve.HOST}:{port}", path)


def test_a_visitor_of_the_class_has_no_ledger_and_no_connection(school: School) -> None:
    assert DATASET in texts(received(school.curators_url, "release", headers=school.curator))
    assert "animals.parquet" in texts(
        received(school.curators_url, "data", {"data": "connected:files"}, headers=school.curator)
    )
    for url in (school.url, school.curators_url):  # the cookie makes the curator, not the address
        sent = texts(received(url, "release"))
        assert DATASET not in sent
        for link in ("connected:files", "connected"):
            sent = texts(received(url, "data", {"data": link}))
            assert "animals.parquet" not in sent
        assert REFUSALS[Act.CONNECT] in sent


def test_a_visitor_of_the_class_makes_no_release_even_by_the_curators_own_button(school: School) -> None:
    with connected(school.curators_url, school.curator) as wire:
        make = button(run(wire, "release"), "Release and spend ε = 1")
    with connected(school.url) as wire:
        run(wire, "release")
        assert DATASET not in texts(run(wire, "release", pressed=make))
    assert [account.dataset for account in ledger.read_books(school.ledger).accounts.values()] == [DATASET]
    with connected(school.curators_url, school.curator) as wire:
        run(wire, "release")
        assert "8 of 8 checks passed" in texts(run(wire, "release", pressed=make))
    assert len(ledger.read_books(school.ledger).of("asia")) == 1, "the same messages of the curator make one"


def test_a_visitor_of_the_class_sees_no_upload_of_another_one(school: School) -> None:
    table = f"animal,age\n{ANIMAL},old\nokapi,young\n".encode() * 20
    link, owners, others = {"data": "upload"}, cookies(school.url), cookies(school.url)
    with connected(school.url, owners) as owner, connected(school.url, others) as other:
        place = widget(run(owner, "data", link), "Table")
        status, file = sent_file(school.url, owner, table, owners)
        assert status == 204
        assert ANIMAL in texts(run(owner, "data", link, files={place: file}))
        for page in ("data", "explore", "network", ""):
            assert ANIMAL not in texts(run(other, page, link))
        sent = texts(run(other, "data", link, files={place: file}))
        assert ANIMAL not in sent, "the name of the file is of no use in another session"
        assert ANIMAL in texts(run(owner, "data", link, files={place: file})), "and its owner still has it"
    with connected(school.curators_url, school.curator) as wire:
        assert ANIMAL not in texts(run(wire, "data", link, files={place: file})), "the curator is another person, too"
