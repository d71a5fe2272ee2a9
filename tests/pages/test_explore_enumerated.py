"""The percentages in the sentences that Release shows about one person, beside all that tiny tables can bring.

No audit is asked: every table of a few records and each of its neighbours is listed, and every release of it with its
probability, from the papers' definitions of the mechanisms.
"""

import itertools
import math
import re
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import special, stats

from dpbayes.mechanisms import GaussianResiduals, MapExponential
from dpbayes.posteriors.dirichlet import Dirichlets
from tests.conftest import thorough
from tests.pages.conftest import open_page, plain, unfold
from tests.strategies import chain

PAGE = "pages/explore.py"
BEFORE, LEVEL = 0.1, 0.2
"""The suspicion that the page starts from, and the level that it asks about."""

Law = np.ndarray
Pair = tuple[Law, Law]
"""What is released of two neighbours: the probabilities of all outcomes, the same ones in the same order."""


def shown(**query: str) -> tuple[str, str]:
    """Return the line below the picture, and the sentences of the opened part."""
    at = open_page(PAGE, **query)
    unfold(at, "person.open")
    (line,) = [plain(caption.value) for caption in at.caption if "about one person" in caption.value]
    (text,) = [plain(markdown.value) for markdown in at.markdown if markdown.value.startswith("Consider an attacker")]
    return line, text


def number(text: str, pattern: str) -> float:
    match = re.search(pattern, text)
    assert match, text
    return float(match[1])


def is_rounded_up(shown_value: float, exact: float, step: float) -> bool:
    return shown_value - step - 1e-9 <= exact <= shown_value + 1e-9


def guesses_right(text: str, pairs: list[Pair]) -> bool:
    """Whether the best guess that is told is that between the pair of neighbours that is told apart best."""
    exact = max((1 + np.abs(p - q).sum() / 2) / 2 for p, q in pairs)
    return is_rounded_up(number(text, r"with it, at most ([\d.]+) times"), 100 * exact, 0.1)


def most_after(pairs: list[Pair]) -> float:
    """The most that the suspicion becomes by any outcome."""
    return float(max((BEFORE * p / (BEFORE * p + (1 - BEFORE) * q)).max() for p, q in pairs))


def rises_right(line: str, text: str, pairs: list[Pair]) -> bool:
    """Whether the belief that is never passed is the largest one that an outcome brings, in the line and the rest."""
    pattern = r"can rise to at most ([\d.]+)%"
    assert number(line, pattern) == number(text, pattern)
    return is_rounded_up(number(text, pattern), 100 * most_after(pairs), 0.1)


def often(text: str) -> tuple[float, float]:
    """How often the level is passed at most, and the last digit of that; never where it is not told of."""
    if f"rises above {100 * LEVEL:g}%" not in text or "never rises above" in text:
        return 0.0, 0.0
    match = re.search(rf"rises above {100 * LEVEL:g}% in at most ([\d,]+) of ([\d,]+) cases", text)
    assert match, text
    cases, of = (int(number_text.replace(",", "")) for number_text in match.groups())
    return cases / of, 1 / of


def passes_right(text: str, pairs: list[Pair]) -> bool:
    """Whether a right suspicion passes the level as often as is told, for the neighbours with whom it does most."""
    most = max(p[BEFORE * p > LEVEL * (BEFORE * p + (1 - BEFORE) * q)].sum() for p, q in pairs)
    at_most, step = often(text)
    return is_rounded_up(at_most, most, step)


# Tables of two binary nodes, the first one the second one's parent


def neighbours(n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the joint counts (2, 2) of all pairs of tables of n records that differ in one."""
    for cuts in itertools.combinations(range(n + 3), 3):
        joint = np.diff([-1, *cuts, n + 3]) - 1
        for start, end in itertools.permutations(range(4), 2):
            if joint[start]:
                other = joint.copy()
                other[start] -= 1
                other[end] += 1
                yield joint.reshape(2, 2), other.reshape(2, 2)


def cells(joint: np.ndarray) -> np.ndarray:
    """The counts of the first node's table and of the second one's."""
    return np.concatenate([joint.sum(axis=1), joint.ravel()])


SIGNS = np.array([1, -1])


def walsh(joint: np.ndarray) -> np.ndarray:
    """The coefficients of the first node, of the second one, and of both."""
    return np.array([SIGNS @ joint.sum(axis=1), joint.sum(axis=0) @ SIGNS, SIGNS @ joint @ SIGNS])


def moved(statistic, n: int) -> set[tuple[tuple[int, int], ...]]:
    """Return all the ways in which a statistic of whole numbers moves: of each number that does, from what to what."""
    pairs = ((statistic(first), statistic(second)) for first, second in neighbours(n))
    return {
        tuple(sorted((a, b) for a, b in zip(*map(np.ndarray.tolist, pair), strict=True) if a != b)) for pair in pairs
    }


def joint_laws(ways, law) -> list[Pair]:
    """Return what each way of moving releases: numbers have noise of their own, so that probabilities multiply."""
    pairs = []
    for way in ways:
        p, q = np.ones(1), np.ones(1)
        for before, after in way:
            p, q = (np.multiply.outer(old, law(new)).ravel() for old, new in ((p, before), (q, after)))
        pairs.append((p, q))
    return pairs


def loudness(ways) -> int:
    """How far one record moves a statistic at most, all numbers together."""
    return max(sum(abs(b - a) for a, b in way) for way in ways)


def whole_laplace(scale: float, places: np.ndarray) -> np.ndarray:
    """P[k] proportional to exp(-|k| / scale)."""
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(places)


@pytest.mark.parametrize(("n", "epsilon"), thorough(itertools.product((2, 4, 6), (0.4, 1.3, 3.0)), sample=[(4, 1.3)]))
def test_laplace_on_two_nodes(n: int, epsilon: float) -> None:
    """All counts that clip(count + noise, 0, n) can come out as: (n + 1) to the number of cells that move."""
    ways = moved(cells, n)
    scale = loudness(ways) / epsilon

    def law(count: int) -> np.ndarray:
        places = np.arange(-400, 401)
        return np.bincount(np.clip(count + places, 0, n), whole_laplace(scale, places), minlength=n + 1)

    pairs = joint_laws(ways, law)
    line, text = shown(source="chain:2", records=str(n), epsilon=str(epsilon), noise="whole numbers")
    assert guesses_right(text, pairs)
    assert rises_right(line, text, pairs)
    assert passes_right(text, pairs)
    louder = joint_laws(ways, lambda count: np.eye(n + 1)[count] / 50 + 49 / 50 * law(count))
    assert not guesses_right(text, louder), "it can fail: now and then no noise is added"
    assert not rises_right(line, text, louder)


@pytest.mark.parametrize(("n", "epsilon"), thorough(itertools.product((2, 4, 6), (0.4, 1.3, 3.0)), sample=[(4, 1.3)]))
def test_fourier_on_two_nodes(n: int, epsilon: float) -> None:
    """All coefficients that can come out, up to what happens once in a million million releases."""
    ways = moved(walsh, n)
    scale = loudness(ways) / epsilon
    places = np.arange(-n - round(28 * scale), n + round(28 * scale) + 1)
    pairs = joint_laws(
        {tuple((0, b - a) for a, b in way) for way in ways}, lambda at: whole_laplace(scale, places - at)
    )
    line, text = shown(
        source="chain:2", records=str(n), epsilon=str(epsilon), noise="whole numbers", mechanism="LaplaceFourier"
    )
    assert guesses_right(text, pairs)
    assert rises_right(line, text, pairs)
    assert passes_right(text, pairs)
    assert not guesses_right(text, joint_laws(ways, lambda at: whole_laplace(0.9 * scale, places - at)))


@pytest.mark.parametrize(("n", "epsilon"), thorough(itertools.product((2, 4, 6), (0.4, 1.3)), sample=[(4, 1.3)]))
def test_residuals_on_two_nodes(n: int, epsilon: float) -> None:
    """The loss is normal: neighbours are so many standard deviations apart as their residuals are."""
    mechanism = GaussianResiduals(prior=Dirichlets.symmetric(chain(2)), epsilon=epsilon)
    sd = np.sqrt(mechanism.variances[[1, 2, 3]])
    lengths = np.sqrt([2, 2, 4])  # a residual is a coefficient by the root of its table's cells
    shift = max(float(np.linalg.norm((walsh(b) - walsh(a)) / lengths / sd)) for a, b in neighbours(n))
    line, text = shown(source="chain:2", records=str(n), epsilon=str(epsilon), mechanism="GaussianResiduals")
    assert is_rounded_up(number(text, r"with it, at most ([\d.]+) times"), 100 * special.ndtr(shift / 2), 0.1)
    assert not is_rounded_up(number(text, r"with it, at most ([\d.]+) times"), 100 * special.ndtr(0.55 * shift), 0.1)

    def above(loss: float) -> float:
        return float(special.ndtr(shift / 2 - loss / shift))

    at_most, step = often(text)
    assert is_rounded_up(at_most, above(math.log(LEVEL / (1 - LEVEL) * 9)), step)
    most = math.exp(epsilon) / (9 + math.exp(epsilon))
    assert is_rounded_up(number(line, r"can rise to at most ([\d.]+)%, apart from rare cases"), 100 * most, 0.1)
    match = re.search(r"It rises above ([\d.]+)% \(the limit of ε alone\) in at most ([\d,]+) of ([\d,]+)", text)
    if match:
        cases, of = (int(number_text.replace(",", "")) for number_text in match.groups()[1:])
        assert is_rounded_up(cases / of, above(epsilon), 1 / of)


# Tables of a coin


def coins(n: int, law) -> list[Pair]:
    """What is released of all pairs of neighbours: one toss of n that came out otherwise."""
    laws = [law(k) for k in range(n + 1)]
    return [pair for k in range(n) for pair in ((laws[k], laws[k + 1]), (laws[k + 1], laws[k]))]


@pytest.mark.parametrize(("n", "epsilon"), thorough(itertools.product((2, 5, 6), (0.4, 1.3, 3.0)), sample=[(5, 1.3)]))
def test_a_draw_from_a_coins_posterior(n: int, epsilon: float) -> None:
    """Densities in 40,000 cells of the interval that keeps the log-odds within epsilon/2 of even."""

    def law(k: int, bound: float = epsilon / 2) -> np.ndarray:
        edges = special.expit(np.linspace(-bound, bound, 40_001))
        masses = np.diff(stats.beta(1 + k, 1 + n - k).cdf(edges))
        return masses / masses.sum()

    pairs = coins(n, law)
    line, text = shown(source="chain:1", records=str(n), epsilon=str(epsilon), mechanism="PosteriorSampler")
    assert guesses_right(text, pairs)
    assert 100 * most_after(pairs) <= number(line, r"can rise to at most ([\d.]+)%")
    most = max(p[BEFORE * p > LEVEL * (BEFORE * p + (1 - BEFORE) * q)].sum() for p, q in pairs)
    assert most <= often(text)[0]
    assert not guesses_right(text, coins(n, lambda k: law(k, epsilon)))


@pytest.mark.parametrize(("n", "epsilon"), thorough(itertools.product((2, 5, 6), (1.3, 6.0)), sample=[(5, 6.0)]))
def test_the_private_map_of_a_coin(n: int, epsilon: float) -> None:
    """All twenty cells, with their prior masses times exp(epsilon u / 2 Delta)."""
    mechanism = MapExponential(prior=Dirichlets.symmetric(chain(1)), epsilon=epsilon)
    edges = np.linspace(0, 1, mechanism.cells + 1)

    def law(k: int) -> np.ndarray:
        weights = np.exp(epsilon * np.diff(stats.beta(1 + k, 1 + n - k).cdf(edges)) / (2 * mechanism.sensitivity))
        return weights / weights.sum()

    pairs = coins(n, law)
    line, text = shown(source="chain:1", records=str(n), epsilon=str(epsilon), mechanism="MapExponential")
    assert guesses_right(text, pairs)
    assert 100 * most_after(pairs) <= number(line, r"can rise to at most ([\d.]+)%")
    assert not guesses_right(text, coins(n, lambda k: law(k) ** 1.3 / (law(k) ** 1.3).sum()))
