"""What a command prints is safe on a terminal: characters that it would obey are escaped."""

import subprocess
import sys

import pytest

from dpbayes.__main__ import Parser, run_command
from dpbayes.base.validation import InputError
from dpbayes.releases.commands import Command
from dpbayes.releases.output import REFUSED, terminal_text

HOSTILE = "a\u202eb\x1b[31mc\u2066\r\x07\u200b\u2028\ud800"


def test_control_and_direction_characters_are_escaped_and_others_stay() -> None:
    assert terminal_text("größe → 10⁻⁷ 漢字\tand\nmore") == "größe → 10⁻⁷ 漢字\tand\nmore"
    assert terminal_text(HOSTILE) == r"a\u202eb\x1b[31mc\u2066\r\x07\u200b\u2028\ud800"
    assert terminal_text(HOSTILE).isprintable()


@pytest.mark.parametrize("error", [InputError(HOSTILE), OSError(2, HOSTILE, HOSTILE)])
def test_a_refusal_never_prints_them(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    def run(_: object) -> int:
        raise error

    assert run_command("x", Command("x", lambda parser: None, run), []) == REFUSED
    said = capsys.readouterr()
    assert terminal_text(HOSTILE) in said.err
    assert said.err.rstrip("\n").isprintable()
    assert not said.out


def test_the_reader_of_a_pipe_may_end_first() -> None:
    code = "import sys; from dpbayes.releases.output import say; say('a'); say('b'); sys.exit(1)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 1)


def test_a_word_that_no_command_knows_is_escaped_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        Parser(prog="p").parse_args(["--\u202e"])
    assert "\u202e" not in capsys.readouterr().err
