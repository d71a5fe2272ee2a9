"""The server's start: what stands in its way is one sentence."""

import socket
import subprocess
import sys

import pytest

from dpbayes.base.validation import InputError
from dpbayes.ui.serve import HOST, checked_port, main


def test_a_taken_port_is_named_with_a_free_one_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"Port {port} is taken by .* make run PORT="):
            checked_port(str(port))
        assert main(["--port", str(port)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert checked_port(str(port)) == port


@pytest.mark.parametrize("text", ["0", "65536", "-1", "eighty", ""])
def test_what_is_no_port_is_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match="The port"):
        checked_port(text)


def test_what_is_imported_before_the_first_visitor_comes_is_no_more_than_needed() -> None:
    code = "import sys; import dpbayes.ui.session.stories, dpbayes.ui.pages.release.page; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "dpbayes.theory.zhang16.stealth" in loaded
    # Each of them takes longer to import than all of our own.
    assert not loaded & {"scipy.stats", "scipy.optimize", "scipy.signal", "openpyxl"}
