import re

import pytest

from dpbayes.experiments.__main__ import main
from dpbayes.experiments.commands.least_epsilon import NAMES
from dpbayes.mechanisms import MECHANISMS

ASIA = ["epsilon", "--network", "asia", "--target", "dysp=yes", "--given", "smoke=yes"]


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def test_the_answer_states_the_question_and_what_it_means(capsys):
    text = said(capsys, *ASIA, "--draws", "100")
    lines = text.splitlines()
    assert lines[0].startswith("Least epsilon: ")
    assert "95% interval: " in lines[0]
    assert "proved: ε = " in lines[0]
    assert lines[1] == (
        "Question: P(dysp = yes | smoke = yes) within 0.05 of the exact posterior's answer in 95% of releases, read by "
        "a naive recipient; mechanism: Laplace; a new table of 1,000 records for each release."
    )
    assert lines[2].startswith("Simulated: 100 releases")
    assert "After 5 releases, the attacker guesses right at most " in lines[3]
    assert said(capsys, *ASIA, "--draws", "100", "--seed", "2") != text


def test_a_table_and_a_width(capsys):
    table = ["epsilon", "--table", "house_votes_84", "--target", "party", "--draws", "50"]
    text = said(capsys, *table, "--measure", "width", "--within", "0.1")
    assert "this table of 435 records" in text
    assert "with a 95% credible interval no wider than 0.1" in text


def test_what_a_real_table_gave_is_marked_as_not_private(capsys, monkeypatch):
    few = {name: kind for name, kind in NAMES.items() if name in ("laplace", "fourier")}
    monkeypatch.setattr("dpbayes.experiments.commands.least_epsilon.NAMES", few)
    table = ["epsilon", "--table", "house_votes_84", "--target", "party", "--draws", "20", "--within", "0.2"]
    for mechanism in ("laplace", "every"):
        first, *rest = said(capsys, *table, "--mechanism", mechanism).splitlines()
        assert first.startswith("Not private (curator view):")
        assert "Least epsilon: " in rest[0]
    assert "not private" not in said(capsys, *ASIA, "--draws", "20").casefold()


def test_the_noise_may_be_kept_in_mind(capsys):
    words = ["epsilon", "--network", "asia", "--target", "asia=yes", "--draws", "20", "--within", "0.1"]
    text = said(capsys, *words, "--answer", "noise-aware")
    assert "read by a noise-aware recipient" in text


def test_parameters_of_a_mechanism(capsys):
    parameters = ["--mechanism", "fourier", "--set", "t=0", "calibration=as printed"]
    assert "mechanism: Fourier as stated in the paper" in said(capsys, *ASIA, "--draws", "50", *parameters)


def test_how_many_records_an_epsilon_needs(capsys):
    words = ["epsilon", "--network", "cancer", "--target", "Smoker", "--draws", "100", "--within", "0.05"]
    line = said(capsys, *words, "--epsilon", "0.2").splitlines()[3]
    numbers = re.fullmatch(r"Records: ε = 0\.2 needs at least ([\d,]+); 95% interval: ([\d,]+) to ([\d,]+)\.", line)
    assert numbers
    records, low, high = (int(number.replace(",", "")) for number in numbers.groups())
    assert 10 < low < records < high < 10_000


def test_a_line_for_every_mechanism(capsys, monkeypatch):
    few = {name: kind for name, kind in NAMES.items() if name in ("exact", "laplace", "fourier", "private-map")}
    monkeypatch.setattr("dpbayes.experiments.commands.least_epsilon.NAMES", few)
    words = ["epsilon", "--network", "cancer", "--target", "Smoker", "--draws", "20", "--mechanism", "every"]
    first, second, third = said(capsys, *words, "--answer", "noise-aware").splitlines()
    assert first.startswith("Laplace: Least epsilon: ")
    assert second.startswith("Fourier: Least epsilon: ")
    assert third.startswith("Private MAP: A release of")


def test_every_mechanism_has_a_name_of_its_own():
    assert len(NAMES) == len(MECHANISMS)
    assert {"laplace", "fourier", "posterior-sampling", "private-map", "exact"} <= set(NAMES)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--epsilon", "0"], "--epsilon must be between 0.001 and 1,000"),
        (["--epsilon", "1", "--mechanism", "every"], "--set and --epsilon need a single mechanism"),
        (["--within", "0"], "The tolerance must be above 0"),
        (["--within", "1.5"], "--within must be between 0 and 1"),
        (["--confidence", "1"], "--confidence must be between 0.01 and 0.999"),
        (["--records", "-1"], "--records must be between 0 and"),
        (["--prior", "0"], "The prior must be between 0.001 and"),
        (["--within", "0.0000001", "--draws", "50"], "No epsilon up to 1,000 is enough"),
        (["--draws", "2"], "--draws must be between"),
        (["--measure", "luck"], "--measure must be one of: error, width"),
        (["--answer", "luck"], "--answer must be one of: as-real, noise-aware"),
        (["--answer", "noise-aware", "--mechanism", "private-map"], "does not state which noise was added"),
        (["--mechanism", "magic"], 'There is no mechanism "magic"'),
        (["--mechanism", "exact"], "has no epsilon"),
        (["--set", "t=1"], 'Laplace has no parameter "t"'),
        (["--set", "noise"], "must be a name and a value"),
        (["--target", "nobody"], "nobody"),
        (["--target", "dysp=perhaps"], 'no state "perhaps"'),
        (["--given", "dysp=no"], "both the target and part of the evidence"),
        (["--level", "0.05"], "--level must be above --suspicion"),
        (["--network", "nowhere"], 'There is no network "nowhere"'),
        (["--arrows", "a -> b"], "both name a network"),
    ],
)
def test_bad_input_is_one_sentence(capsys, words, message):
    assert main([*ASIA, *words]) == 2
    sentence = capsys.readouterr().err.strip()
    assert message in sentence
    assert "\n" not in sentence


def test_arrows_that_are_no_text_are_one_sentence(capsys, tmp_path):
    (tmp_path / "graph.edges").write_bytes("größe -> schäden".encode("latin-1"))
    table = ["--table", "house_votes_84", "--arrows", str(tmp_path / "graph.edges")]
    assert main(["epsilon", "--target", "crime", *table]) == 2
    assert capsys.readouterr().err.strip() == "The file is not UTF-8 text; save it as UTF-8 and load it again."


def test_a_network_without_probabilities_needs_a_table(capsys):
    assert main(["epsilon", "--target", "a", "--arrows", "a -> b"]) == 2
    assert "Give a --table" in capsys.readouterr().err
