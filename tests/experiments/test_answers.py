import numpy as np
import pytest

from dpbayes.base.validation import InputError
from dpbayes.experiments import releases
from dpbayes.experiments.releases import POINTS, concluded
from dpbayes.mechanisms import LaplaceUpdates, PosteriorSampler
from dpbayes.model.dataset import Counts
from dpbayes.model.query import query
from dpbayes.model.question import Question
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.noise_model import Reading
from dpbayes.sources.named_networks import load_named
from tests.strategies import V_STRUCTURE

ASIA, CPTS = load_named("asia")
COUNTS = Counts(V_STRUCTURE, np.full(V_STRUCTURE.cell_count, 30), 120)
FIRST, SECOND, _ = V_STRUCTURE.names


def released(releases: int):
    mechanism = LaplaceUpdates(prior=V_STRUCTURE, epsilon=2.0)
    return mechanism.simulate(COUNTS, np.random.default_rng(2), (releases,))


@pytest.mark.parametrize(
    ("target", "evidence", "is_cell"),
    [
        ("asia", {}, True),
        ("tub", {"asia": "yes"}, True),
        ("dysp", {"either": "no", "bronc": "yes"}, True),
        ("dysp", {"bronc": "yes"}, False),
        ("dysp", {"smoke": "yes"}, False),
        ("asia", {"smoke": "yes"}, False),
    ],
)
def test_a_cell_is_answered_without_inference_and_the_same(target, evidence, is_cell):
    for place, state in enumerate(ASIA.states[ASIA.index(target)]):
        question = Question(ASIA, target, state, evidence)
        assert (question.cell is not None) is is_cell
        assert question.answers(CPTS[None]) == pytest.approx(query(ASIA, CPTS[None], target, evidence)[:, place])


@pytest.mark.parametrize(
    ("target", "evidence"),
    [("dysp", {}), ("dysp", {"smoke": "yes"}), ("bronc", {"dysp": "yes", "xray": "yes"}), ("lung", {"smoke": "no"}),
     ("tub", {"either": "no", "asia": "yes"}), ("asia", {"smoke": "yes"})],
)  # fmt: skip
def test_an_answer_depends_on_its_cells_and_on_no_other(target, evidence):
    question = Question(ASIA, target, "yes", evidence)
    others = np.setdiff1d(np.arange(ASIA.cell_count), question.cells)
    cpts = np.random.default_rng(3).uniform(0.2, 0.8, ASIA.cell_count)
    answer = question.answers(cpts)
    elsewhere = np.where(np.isin(np.arange(ASIA.cell_count), others), 0.123, cpts)
    assert question.answers(elsewhere) == pytest.approx(answer, rel=1e-12)
    moved = [question.answers(np.where(np.arange(ASIA.cell_count) == cell, 0.123, cpts)) for cell in question.cells]
    assert (np.abs(np.array(moved) - answer) > 1e-9).all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nobody", "yes"), "nobody"),
        (("dysp", "perhaps"), "no state"),
        (("dysp", "yes", {"smoke": "perhaps"}), "no state"),
        (("dysp", "yes", {"dysp": "no"}), "both the target and part of the evidence"),
    ],
)
def test_unknown_names_are_refused(words, message):
    with pytest.raises(InputError, match=message):
        Question(ASIA, *words)


def test_the_exact_posterior_answers_with_its_mean():
    posterior = Dirichlets.symmetric(V_STRUCTURE).updated(COUNTS)
    question = Question(V_STRUCTURE, FIRST, V_STRUCTURE.states[0][0])
    assert question.answers(posterior.mean) == pytest.approx(31 / 62)


# With the noise in mind


CELL = Question(V_STRUCTURE, FIRST, V_STRUCTURE.states[0][0])
OTHERS = Question(V_STRUCTURE, FIRST, V_STRUCTURE.states[0][0], {SECOND: V_STRUCTURE.states[1][0]})


THIRD = Question(V_STRUCTURE, V_STRUCTURE.names[2], V_STRUCTURE.states[2][0], {SECOND: V_STRUCTURE.states[1][0]})


@pytest.mark.parametrize("question", [CELL, OTHERS, THIRD])
def test_answers_with_the_noise_in_mind_are_the_means_of_that_posterior_in_parts(question, monkeypatch):
    release = released(7)
    monkeypatch.setattr(releases, "_MOST_VALUES", 3 * POINTS * V_STRUCTURE.cell_count)
    expected = question.answers(release.noise_aware(points=POINTS).mean)
    aware = concluded(release, Reading.NOISE_AWARE, question.cells)
    assert question.answers(aware) == pytest.approx(expected)
    assert question.answers(aware) != pytest.approx(question.answers(concluded(release, Reading.AS_REAL)))


@pytest.mark.parametrize("cells", [CELL.cells, None])
def test_what_does_not_tell_its_noise_is_not_answered_so(cells):
    release = PosteriorSampler(prior=V_STRUCTURE, epsilon=20.0).simulate(COUNTS, np.random.default_rng(2), (3,))
    with pytest.raises(InputError, match="does not state which noise"):
        concluded(release, Reading.NOISE_AWARE, cells)
