"""The boards of Proofs: audits and bounds against the core, verdicts that agree, words at every end of every number."""

import itertools
import re
from typing import Any

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.audit.entry import TablePair
from dpbayes.audit.loss.law import PromisedLoss
from dpbayes.audit.registry import Audited, audit
from dpbayes.audit.risk import best_guess, losses_of
from dpbayes.base.looks import INVALID
from dpbayes.base.parameters import Parameter, parameters_of
from dpbayes.base.text import in_hundred, numeral_above, typed
from dpbayes.base.validation import InputError
from dpbayes.boards.proofs import audit_view, claim_view, outputs_view
from dpbayes.experiments.claims import ClaimInputs, Evaluation, axis_parameter, finding
from dpbayes.mechanisms import PRIVATE, Calibration, PosteriorSampler
from dpbayes.mechanisms.die.hellinger import HellingerLocal, HellingerSmooth
from dpbayes.model.dataset import Counts
from dpbayes.posteriors.hellinger import Die
from dpbayes.theory.claims.claim import Verdict
from dpbayes.theory.claims.exhibit import Exhibit, Uses
from dpbayes.theory.claims.judgement import Decision
from dpbayes.theory.claims.setting import Axis, ClaimParameters, EvaluationPoint, Subject, moved, place
from dpbayes.theory.index import EXHIBITS, counterexamples_of
from dpbayes.theory.zhang16.posterior_kl.bounds import posterior_kl
from tests.conftest import thorough

NETWORK, CPTS = dp.load_named("asia")
COUNTS = dp.count(NETWORK, dp.sample_dataset(NETWORK, CPTS, 1000, np.random.default_rng(1)))
WHERE = "tables of 1,000 records for the Asia network"


# One mechanism


def network_view(kind: Any, **fields: Any) -> Any:
    return audit_view(
        kind,
        lambda epsilon: Audited(kind(prior=NETWORK, epsilon=epsilon, **fields), {"n": 1000}, WHERE),
        Audited.report,
    )


def trace(frame: Any, name: str, panel: str = "guesses") -> Any:
    return next(trace for trace in frame.figures[panel].data if trace.get("name", "").startswith(name))


def rows(frame: Any) -> dict[str, str]:
    """What is written at the bars of the verdict: the belief, the factor and the finding of each row by its name."""
    _, *texts = (re.sub("<.*?>", "", note["text"]) for note in frame.figures["verdict"].layout["annotations"])
    heads = [text.partition(": ") for text in texts[::2]]
    return {name: f"{belief}: {said}" for (name, _, said), belief in zip(heads, texts[1::2], strict=True)}


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_the_picture_of_a_belief_moves_with_epsilon_on_an_axis_that_stays(epsilon: float) -> None:
    (frame,) = network_view(dp.LaplaceUpdates).frames_at(str(epsilon))
    figure = frame.figures["verdict"]
    assert figure.layout["xaxis"]["range"] == [0, 1.2]
    assert figure.data[-1]["base"][0] + figure.data[-1]["x"][0] == pytest.approx(1 / (1 + 9 * np.exp(-epsilon)))
    assert f"to at most {rows(frame)['Computed'].partition(':')[0]}, as the stated" in frame.headline


def test_laplace_is_tight_and_its_curve_the_cores() -> None:
    (frame,) = network_view(dp.LaplaceUpdates).frames_at("2")
    assert frame.headline.endswith(" can rise to at most 45.1%, as the stated ε allows.")
    assert "at most 7.39 times as likely as without the change; ε = 2 allows 7.39 times." in frame.notes[0]
    assert frame.notes[1] == "Laplace: the stated ε = 2 holds and cannot be made smaller."
    assert WHERE in frame.captions["verdict"]
    assert rows(frame)["Stated and proved"] == "45.1%: 7.39 times ● holds"
    assert rows(frame)["Computed"] == "45.1%: 7.39 times ● as proved"
    assert frame.captions["worst"].endswith("changes 16 such numbers, whose factors multiply to 7.39.")
    mark = trace(frame, "largest factor", "worst")
    assert mark["text"][0] == "one number: at most 1.14 times"
    assert max(mark["y"]) / min(mark["y"]) == pytest.approx(np.exp(2 / 16))
    assert frame.numbers["factor"] == pytest.approx(np.exp(2))
    risk = dp.risk(dp.LaplaceUpdates(prior=NETWORK, epsilon=2), n=1000)
    law = losses_of(dp.LaplaceUpdates(prior=NETWORK, epsilon=2), n=1000)
    for name, losses in (("with one", law), ("allowed", PromisedLoss(2.0))):
        drawn = trace(frame, name)
        best = [best_guess(losses, belief).high for belief in drawn["x"][:-1]]
        np.testing.assert_allclose(drawn["y"], [*best, 1.0])
    shown = tuple(map(in_hundred, (risk.guess.high, risk.promised)))
    assert "at most {}% of guesses are right. ε = 2 allows {}%, the".format(*shown) in frame.captions["guesses"]


@pytest.mark.parametrize("kind", PRIVATE)
def test_every_board_is_complete_and_small(kind: Any) -> None:
    view = network_view(kind)
    board = view.complete() if hasattr(kind, "noise_model") else view.with_frames({"1": view.frames_at("1")})
    assert len(board.block()) < 400_000
    for (frame,) in board.frames.values():
        assert list(rows(frame)) in (["Stated and proved", "Computed"], ["Proved", "Computed"])
        assert len(re.findall(r"\d[\d,]*(?:\.\d+)?", frame.headline.replace(" × 10", ""))) <= 2
        assert "guesses" in frame.figures


def test_the_sampler_as_stated_is_refuted() -> None:
    (frame,) = network_view(PosteriorSampler, calibration=Calibration.AS_PRINTED).frames_at("2")
    sampler = PosteriorSampler(prior=NETWORK, epsilon=2.0, calibration=Calibration.AS_PRINTED)
    report = audit(sampler, n=1000, epsilons=[])
    assert frame.notes[1].endswith("the stated ε = 2 does not hold.")
    assert rows(frame)["Computed"].startswith(f"99.7%: {numeral_above(np.exp(report.at_least))} to ")
    assert list(rows(frame)) == ["Stated", "Computed"], "a proof of more than is allowed does not read as a promise"
    np.testing.assert_allclose(trace(frame, "first", "worst")["y"].max(), np.exp(report.worst.laws.part))
    assert f"release {numeral_above(np.exp(report.at_least))} times as likely" in frame.notes[0]
    assert frame.headline.endswith("99.7%, more than the stated ε allows.")
    assert frame.numbers["factor"] == pytest.approx(np.exp(report.at_least))
    assert trace(frame, "too often")
    assert "(the pale end)" in frame.captions["verdict"]
    (repaired,) = network_view(PosteriorSampler).frames_at("2")
    assert repaired.headline.endswith(", less than the proved ε allows.")
    assert f" at most {numeral_above(repaired.numbers['factor'])} times" in repaired.notes[0]
    assert repaired.notes[1] == "Posterior sampling: the proved ε = 2 holds."
    assert INVALID not in str(repaired.figures["verdict"])


def die_view(kind: Any, n: int, **fields: Any) -> Any:
    return audit_view(kind, lambda epsilon: Audited(kind(epsilon=epsilon, **fields), {"n": n}, "dice"), Audited.report)


def test_the_smooth_mechanism_states_its_loss_at_its_delta() -> None:
    (frame,) = die_view(HellingerSmooth, 50, die=Die((1.0, 1.0), 50), delta=1e-3).frames_at("2")
    report = audit(HellingerSmooth(die=Die((1.0, 1.0), 50), epsilon=2.0, delta=1e-3), n=50, epsilons=[])
    assert "ε = 2, δ = 0.001 holds" in frame.notes[1]
    assert f": {numeral_above(np.exp(report.needed))} times" in rows(frame)["Computed"]


def test_local_sensitivity_loses_more_than_it_is_run_at() -> None:
    die = Die((0.01, 0.01), 200)
    (frame,) = die_view(HellingerLocal, 200, die=die).frames_at("1")
    assert frame.notes[1].endswith("no ε is stated.")
    assert list(rows(frame)) == ["Computed"]
    assert trace(frame, "too often")
    assert re.search(r"belief of 73.1\d*%, ε = 1 allows no better guess; here", frame.captions["guesses"])
    first, second = (np.exp(HellingerLocal(die=die, epsilon=1.0).log_pmf(np.array(x))) for x in ((2, 198), (1, 199)))
    laws = {name: trace(frame, name, "worst")["y"] for name in ("first", "second")}
    np.testing.assert_allclose(laws["first"], first[1 : 1 + len(laws["first"])])
    np.testing.assert_allclose(laws["second"], second[1 : 1 + len(laws["second"])])
    mark = trace(frame, "largest factor", "worst")
    assert mark["x"] == ["(2 | 198)"] * 2
    assert mark["text"][0] == f"{numeral_above(max(mark['y']) / min(mark['y']))} times (2.72 allowed)"
    assert f"release {mark['text'][0].partition(' ')[0]} times" in frame.notes[0]


def test_a_mechanism_without_an_audit_is_said_to_have_none() -> None:
    class Odd(dp.LaplaceUpdates):
        pass

    (frame,) = network_view(Odd).frames_at("1")
    assert frame.headline.endswith(" is not known.")
    assert not frame.figures


def test_simulated_losses_above_the_claim_refute_it() -> None:
    claimed = dp.Guarantee(1.0)
    two = TablePair("x", "y", "Two tables.")
    losses = np.full(40, 5.0)
    (frame,) = outputs_view(dp.AdaptiveAudit(claimed, losses, losses), two).frames_at("")
    assert "ε = 1 is refuted: a simulated release raises a 10% belief to 94.3%." in frame.headline
    assert rows(frame)["Largest simulated"] == "94.3%: 149 times"
    (fine,) = outputs_view(dp.AdaptiveAudit(claimed, losses / 10, losses / 10), two).frames_at("")
    assert fine.headline.startswith("It is proved")
    assert rows(fine) == {"Proved": "23.2%: 2.72 times ● holds", "Largest simulated": "15.5%: 1.65 times"}


# The claims

NAMES = list(EXHIBITS)


def inputs_of(
    name: str, axis: Axis | None = None, *, counts: Counts | None = COUNTS, prior: float = 1.0, **values: Any
) -> ClaimInputs:
    exhibit = EXHIBITS[name]
    own = dict(exhibit.defaults) | values
    epsilon, prior = float(own.pop("epsilon", 1.0)), own.pop("prior", prior)
    draws = int(own.pop("draws", 1))
    subject = Subject(NETWORK, prior, 1000, None if exhibit.uses is Uses.PUBLIC else counts, 1)
    at = EvaluationPoint((epsilon,), draws, ClaimParameters.usual(**own))
    return ClaimInputs(exhibit, subject, at, axis or exhibit.axes[0])


def here(inputs: ClaimInputs) -> Evaluation:
    return inputs.evaluated(typed(place(inputs.subject, inputs.at, inputs.axis)))


def check_words(evaluation: Evaluation) -> None:
    text = finding(evaluation) + evaluation.exhibit.formula(evaluation.subject, evaluation.at, evaluation.bound)
    assert text.startswith(evaluation.claim.reference.in_words)
    assert not re.search(r"(?<![\w\\])(nan|inf|None)(?!\w)", text), text
    assert not re.search(r"(?<![\w#.])\d+(?:\.\d+)?e[-+]?\d+\b", text), text


BEGUN = {
    verdict: re.compile(rf"^[^:]* (?:does not apply here: it requires that|{words})")
    for verdict, words in {
        Verdict.HOLDS: "holds",
        Verdict.LOOSE: "holds",
        Verdict.AMENDED: "holds only with a correction: .*, but|holds with a correction",
        Verdict.FALSE: "fails(?:: .*(?:, but|exceed its bound)|, and says nothing here|: it gives no)|fails at other",
        Verdict.VACUOUS: "is true but vacuous",
        Verdict.UNCLEAR: "is undecided",
    }.items()
}
"""How a headline begins: with the verdict as it reads at the setting, or that the claim does not apply there."""


@pytest.mark.parametrize("name", NAMES)
def test_a_claim_is_drawn_along_every_axis_and_its_headline_has_its_verdict(name: str) -> None:
    """The curves are the exhibit's values, here at both ends and in the middle."""
    exhibit: Exhibit = EXHIBITS[name]
    for axis in exhibit.axes:
        inputs = inputs_of(name, axis)
        curve = inputs.curve
        assert len(curve.x) >= 13
        assert (np.diff(np.array(curve.x, dtype=float)) > 0).all()
        assert np.isfinite(curve.bound.printed).any()
        for k in (0, len(curve.x) // 2, -1):
            x = axis_parameter(axis).checked("x", curve.x[k])
            bound = exhibit.bound(*moved(inputs.subject, inputs.at, axis, x))
            assert np.isclose(curve.bound.printed[k], bound.printed[0], 1e-12, equal_nan=True) or not bound.applies
            np.testing.assert_allclose(curve.bound.certified[k], bound.certified[0], rtol=1e-12)
            evaluation = inputs.evaluated(curve.x[k])
            np.testing.assert_allclose(curve.measured.exact[k], evaluation.measured.exact[0], rtol=1e-9)
            check_words(evaluation)
            assert BEGUN[exhibit.claim.verdict].search(finding(evaluation))


@pytest.mark.parametrize("name", NAMES)
def test_a_claim_that_holds_is_never_refuted_and_one_that_fails_has_a_counterexample_or_a_red_point(name: str) -> None:
    exhibit = EXHIBITS[name]
    decisions = {
        inputs.evaluated(stop).judgement.decision
        for axis in exhibit.axes
        for inputs in [inputs_of(name, axis)]
        for stop in inputs.stops[::4]
    }
    if exhibit.claim.verdict in (Verdict.HOLDS, Verdict.LOOSE):
        assert Decision.REFUTED not in decisions
    if exhibit.claim.verdict is Verdict.FALSE:
        assert counterexamples_of(exhibit.claim) or decisions & {Decision.REFUTED, Decision.UNCERTIFIED}


def test_a_claim_whose_condition_is_not_met_is_not_judged() -> None:
    assert not (curve := inputs_of("ALT_LEMMA_8", Axis.ANSWERS).curve).measured.violated.any()
    assert np.isfinite(curve.bound.printed).sum() == 1, "nothing is stated of more than one answer"
    assert "Lemma 2 does not apply here" in finding(here(inputs_of("LEMMA_2"))), "some nodes have parents"
    assert not inputs_of("COROLLARY_2").curve.is_limit, "no smaller noise is drawn as allowed"
    assert inputs_of("ALT_LEMMA_8", Axis.ANSWERS).limit.endswith("at large k: it requires that one answer is given.")
    below = finding(inputs_of("THEOREM_1", Axis.PRIOR).evaluated("1"))
    assert below == "Theorem 1 does not apply here: it requires that every prior parameter is at least 2."
    assert "holds with a correction, which changes no number here:" in finding(
        here(inputs_of("ALT_ALGORITHM_1", answers=1))
    )


def test_theorem_1_is_that_of_the_core_and_red_where_it_is_exceeded() -> None:
    """[Zhang16] Theorem 1."""
    inputs = inputs_of("THEOREM_1", prior=2.0)
    bound = posterior_kl(inputs.subject.prior, COUNTS, epsilon=0.1, delta=0.05).theorem
    (frame,) = claim_view(inputs).frames_at("0.1")
    assert frame.headline.startswith("Theorem 1 fails: ")
    assert frame.headline.endswith("of simulated releases exceed its bound, which allows 5%.")
    stated, quantile = trace(frame, "value of", "bound")["text"]
    assert float(stated.removeprefix("stated ").replace(",", "")) == pytest.approx(float(bound.printed[0]), rel=5e-3)
    assert re.fullmatch(r"simulated quantile [\d,]+ \(1\.\d × stated\)", quantile)
    red = trace(frame, "as stated, exceeded", "bound")
    assert np.isfinite(red["y"]).any()
    board = claim_view(inputs).complete()
    assert len(board.block()) < 400_000
    assert board.private


def test_what_is_marked_on_the_picture_is_what_the_headline_states() -> None:
    for name, stop in {"APPENDIX_C2": "2", "COROLLARY_3": "0.05", "COROLLARY_4": "1", "REFINED": "0.1"}.items():
        (frame,) = claim_view(inputs_of(name, prior=2.0)).frames_at(stop)
        texts = trace(frame, "value of", "bound")["text"]
        numbers = re.findall(r"\d[\d,.]*\d|\d", frame.headline.partition(": ")[2])
        assert len(numbers) >= 2
        assert all(any(number in re.findall(r"\d[\d,.]*\d|\d", text) for text in texts) for number in numbers)


def test_the_loss_of_a_trimmed_sample_is_that_of_the_audit() -> None:
    """[Zhang16] Appendix C.2."""
    inputs = inputs_of("APPENDIX_C2", prior=1.0)
    sampler = PosteriorSampler(prior=inputs.subject.prior, epsilon=2.0, calibration=Calibration.AS_PRINTED)
    loss = audit(sampler, n=inputs.subject.records, epsilons=[]).at_least
    losses = [float(inputs.evaluated(stop).measured.exact[0]) for stop in ("2", "10")]
    assert losses[0] == pytest.approx(loss, rel=1e-5)
    assert losses[1] / 10 > losses[0] / 2, "the gap grows, as the story says"


@pytest.mark.parametrize("name", [name for name in NAMES if EXHIBITS[name].uses is Uses.SIMULATION])
def test_a_recipients_board_does_not_depend_on_the_counts(name: str) -> None:
    assert not claim_view(inputs_of(name, counts=None)).board.private
    assert claim_view(inputs_of(name)).board.private


def ends_of(knob: str) -> tuple[Any, ...]:
    if knob == "draws":
        return (1, 3)
    axis = next((axis for axis in Axis if axis.control == knob), None)
    described = parameters_of(ClaimParameters)
    parameter = described[knob.removeprefix("bounds.")] if axis is None else axis_parameter(axis)
    assert isinstance(parameter, Parameter)
    return parameter.low, parameter.high


def at_ends(name: str, **values: Any) -> Evaluation | None:
    """Return a bound at these values of its numbers; None where it is refused in one sentence."""
    n = values.pop("bounds.n", None)
    prior = float(values.pop("bounds.prior", 1.0))
    own = {knob.removeprefix("bounds."): value for knob, value in values.items()}
    inputs = inputs_of(name, counts=None, prior=prior, **own)
    if n is not None:
        inputs = ClaimInputs(inputs.exhibit, *moved(inputs.subject, inputs.at, Axis.RECORDS, n), inputs.axis)
    refusal = ""
    try:
        inputs.exhibit.limit(inputs.subject, inputs.at)
        return here(inputs)
    except InputError as error:
        refusal = str(error)
    assert re.fullmatch(r"(epsilon|[A-Z])[^\n]*\.", refusal)
    return None


@pytest.mark.parametrize("name", thorough(NAMES, sample=NAMES[::2]))
def test_every_number_at_both_ends_has_words_or_a_sentence(name: str) -> None:
    if EXHIBITS[name].uses is Uses.COUNTS:
        pytest.skip("it needs counts, which are large here")
    knobs = EXHIBITS[name].knobs
    corners = itertools.islice(itertools.product(*(ends_of(knob) for knob in knobs)), 32)
    shown = [at_ends(name, **dict(zip(knobs, corner, strict=True))) for corner in corners]
    for evaluation in shown:
        if evaluation is not None:
            check_words(evaluation)
    assert at_ends(name) is not None
