"""The meanings of the field's terms: one line each, shown at the first use on a page and listed in docs/glossary.md."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

EPSILON = "One record changes the odds of any released value by a factor of at most exp(ε)."
DELTA = "The probability by which an event may exceed the bound exp(ε): P(A) ≤ exp(ε) P′(A) + δ."
NEIGHBOURS = "Neighbouring tables have the same number of records and differ in one record."
SENSITIVITY = (
    "The largest change of the noise-free output when one record is replaced: as proved, or as stated in the paper."
)
PRIOR = "The distribution before any record is seen. Capped: N′ per node, but 0.125 to 1 in every cell."
PSEUDO_COUNT = "The Dirichlet parameter of every cell before any record is seen; 1 is a uniform prior."
SAMPLE_SIZE = "The sum of the Dirichlet parameters of a node’s cells, N′ in BDeu; it acts like so many records."
ROW = "A row is the distribution of a node for one combination of its parents' states."
CELL = "A cell is one state in one row; a release must protect its count."
KL = "The Kullback-Leibler divergence from the exact to the private distribution, in nats; 0 if they are equal."
COVERAGE = "The share of the exact posterior that an interval contains; a 95% interval should contain 95%."
SEED = "The same seed repeats the same noise, so a simulated release protects nobody; a real release has no seed."


@dataclass(frozen=True)
class GlossaryEntry:
    """A term, its meaning in one line, and its other forms in sentences."""

    name: str
    meaning: str
    others: tuple[str, ...] = ()


TERMS = (
    GlossaryEntry("accuracy", "The share of records whose class is predicted correctly."),
    GlossaryEntry("attacker", "Someone who knows all records but one, and uses a release to infer that record."),
    GlossaryEntry(
        "Bayesian network", "A distribution over the columns of a table, factored along the arrows of a graph."
    ),
    GlossaryEntry("budget", "The total privacy loss that all releases of a dataset may have."),
    GlossaryEntry("cell", CELL, ("cells",)),
    GlossaryEntry("claim", "A statement of a paper, such as an ε or a bound, that is tested here.", ("claims",)),
    GlossaryEntry(
        "clipping",
        "Setting noisy counts below 0 to 0, and noisy counts above n, the number of records, to n.",
        ("clipped",),
    ),
    GlossaryEntry("composition", "How the privacy losses of several releases of the same records add up."),
    GlossaryEntry("coverage", COVERAGE),
    GlossaryEntry("CPT", "A conditional probability table: the distribution of a node in each of its rows.", ("CPTs",)),
    GlossaryEntry("curator", "The person who has the records, and may see exact values that are not private."),
    GlossaryEntry("δ", DELTA, ("delta",)),
    GlossaryEntry("domain", "The possible values of a column, which must be public.", ("domains",)),
    GlossaryEntry("ε", EPSILON, ("epsilon",)),
    GlossaryEntry(
        "exact posterior", "The posterior that is computed from the records without noise, and is not private."
    ),
    GlossaryEntry(
        "exponential mechanism",
        "A mechanism that selects an outcome at random; higher scores have higher probabilities.",
    ),
    GlossaryEntry("Fourier coefficients", "Signed sums of counts, from which the counts of all cells can be computed."),
    GlossaryEntry(
        "Gaussian noise", "Normal noise with a standard deviation proportional to the sensitivity; δ is above 0."
    ),
    GlossaryEntry(
        "Hellinger distance",
        "A distance between distributions: 0 if they are equal, 1 if they have no outcome in common.",
    ),
    GlossaryEntry("KL divergence", KL, ("KL",)),
    GlossaryEntry("Laplace noise", "Noise from the Laplace distribution, with a scale of sensitivity / ε; δ is 0."),
    GlossaryEntry("ledger", "The file that records the budget of each dataset and the cost of each release."),
    GlossaryEntry(
        "mean absolute error", "The mean absolute difference between private and exact probabilities.", ("mean error",)
    ),
    GlossaryEntry("mechanism", "The randomised algorithm that computes a release from the records.", ("mechanisms",)),
    GlossaryEntry("naive", "Reading a release as if its noisy counts were exact."),
    GlossaryEntry("neighbouring tables", NEIGHBOURS, ("neighbours",)),
    GlossaryEntry("noise-aware", "Reading a release with the public distribution of its noise in the model."),
    GlossaryEntry("posterior", "The distribution of the probabilities of the network, given the records or a release."),
    GlossaryEntry("posterior sampling", "Releasing samples of the posterior instead of noisy counts."),
    GlossaryEntry("prior", PRIOR),
    GlossaryEntry(
        "privacy loss", "The logarithm of the factor by which an output changes the odds of two neighbouring tables."
    ),
    GlossaryEntry("proved", "Shown by a proof or by enumeration; “as stated in the paper” alone is not proved."),
    GlossaryEntry("recipient", "Anyone who receives a release but does not have the records."),
    GlossaryEntry("release", "The published output of a mechanism; computations on it cause no further privacy loss."),
    GlossaryEntry(
        "ρ",
        "The parameter of zero-concentrated differential privacy; the ρ values of several releases add up.",
        ("zCDP", "rho"),
    ),
    GlossaryEntry("row", ROW, ("rows",)),
    GlossaryEntry("seed", SEED),
    GlossaryEntry("sensitivity", SENSITIVITY),
    GlossaryEntry("tight", "A claim is tight if the worst-case privacy loss equals the stated ε."),
    GlossaryEntry("worst-case privacy loss", "The largest privacy loss over all neighbouring tables and all outputs."),
)
"""The glossary, in alphabetical order."""

GLOSSARY = """# Glossary

The terms of the dashboard, as its tooltips explain them (`dpbayes/base/terms.py`).

| term | meaning |
| --- | --- |
"""
"""The beginning of `docs/glossary.md`."""

MOST_EXPLAINED = 4
"""The largest number of terms that one tooltip explains."""

_MEANINGS = {name: term for term in TERMS for name in (term.name, *term.others)}
_NAMES = re.compile(
    r"(?<![\w-])(?:" + "|".join(map(re.escape, sorted(_MEANINGS, key=len, reverse=True))) + r")(?![\w-])"
)


def glossary() -> str:
    """Return the page `docs/glossary.md`."""
    names = (", ".join((term.name, *term.others)) for term in TERMS)
    return GLOSSARY + "".join(f"| {name} | {term.meaning} |\n" for name, term in zip(names, TERMS, strict=True))


def explained(text: str) -> str:
    """Return a line for each of the first terms of a text, as Markdown; empty if it has none."""
    terms = list(dict.fromkeys(_in(text)))[:MOST_EXPLAINED]
    return "\n\n".join(f"**{term.name}**: {term.meaning}" for term in terms)


def _in(text: str) -> Iterator[GlossaryEntry]:
    for match in _NAMES.finditer(text):
        yield _MEANINGS[match[0]]
