"""The papers and the places in them: the single source of all citations."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A source text: how to cite it and where to read it; `called` is its name in a sentence, if not the venue."""

    key: str
    authors: str
    title: str
    venue: str
    link: str
    called: str = ""

    @property
    def name(self) -> str:
        """The name in a sentence."""
        return self.called or self.venue

    @property
    def signed(self) -> str:
        """The venue and its first author, for a list of papers."""
        first = self.authors.partition(",")[0].split()[-1]
        return self.called or f"{self.venue} ({first} et al.)"

    @property
    def bibtex(self) -> str:
        """The entry of a bibliography, in Unicode as BibLaTeX reads it; the venue determines its kind."""
        kind, where = self._kind()
        fields = {"author": self._author(), "title": f"{{{self.title}}}", **where} | self._address()
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
        return f"@{kind}{{{self.key},\n{lines}}}\n"

    def _author(self) -> str:
        is_people = not self.authors.endswith(" authors")
        return self.authors.replace(", ", " and ") if is_people else f"{{{self.authors}}}"

    def _kind(self) -> tuple[str, dict[str, str]]:
        if journal := re.fullmatch(r"(.+) (\d+)\((\d+)\), (\d{4})", self.venue):
            return "article", dict(zip(("journal", "volume", "number", "year"), journal.groups(), strict=True))
        if preprint := re.fullmatch(r"preprint, (\d{4})", self.venue):
            return "misc", {"year": preprint[1]}
        if talk := re.fullmatch(r"(.+) (\d{4})", self.venue):
            return "inproceedings", {"booktitle": talk[1], "year": talk[2]}
        return "unpublished", {"note": self.venue[0].upper() + self.venue[1:]}

    def _address(self) -> dict[str, str]:
        """An identifier, if the link has one."""
        if arxiv := re.fullmatch(r"https://arxiv\.org/abs/(.+)", self.link):
            return {"eprint": arxiv[1], "eprinttype": "arxiv", "url": self.link}
        if doi := re.fullmatch(r"https://doi\.org/(.+)", self.link):
            return {"doi": doi[1]}
        return {}


PAPERS: dict[str, Paper] = {
    paper.key: paper
    for paper in (
        Paper(
            "Zhang16",
            "Zuhe Zhang, Benjamin I. P. Rubinstein, Christos Dimitrakakis",
            "On the Differential Privacy of Bayesian Inference",
            "AAAI 2016",
            "https://arxiv.org/abs/1512.06992",
        ),
        Paper(
            "Dimitrakakis14",
            "Christos Dimitrakakis, Blaine Nelson, Aikaterini Mitrokotsa, Benjamin I. P. Rubinstein",
            "Robust and Private Bayesian Inference",
            "ALT 2014",
            "https://arxiv.org/abs/1306.1066",
        ),
        Paper(
            "Barak07",
            "Boaz Barak, Kamalika Chaudhuri, Cynthia Dwork, Satyen Kale, Frank McSherry, Kunal Talwar",
            "Privacy, accuracy, and consistency too: a holistic solution to contingency table release",
            "PODS 2007",
            "https://doi.org/10.1145/1265530.1265569",
        ),
        Paper(
            "Dwork06",
            "Cynthia Dwork, Frank McSherry, Kobbi Nissim, Adam Smith",
            "Calibrating noise to sensitivity in private data analysis",
            "TCC 2006",
            "https://doi.org/10.1007/11681878_14",
        ),
        Paper(
            "Kairouz15",
            "Peter Kairouz, Sewoong Oh, Pramod Viswanath",
            "The Composition Theorem for Differential Privacy",
            "ICML 2015",
            "https://arxiv.org/abs/1311.0776",
        ),
        Paper(
            "Zhang17",
            "Jun Zhang, Graham Cormode, Cecilia M. Procopiuc, Divesh Srivastava, Xiaokui Xiao",
            "PrivBayes: Private Data Release via Bayesian Networks",
            "ACM TODS 42(4), 2017",
            "https://doi.org/10.1145/3134428",
        ),
        Paper(
            "McKenna20",
            "Ryan McKenna, Daniel Sheldon",
            "Permute-and-Flip: A new mechanism for differentially private selection",
            "NeurIPS 2020",
            "https://arxiv.org/abs/2010.12603",
        ),
        Paper(
            "Xiao23",
            "Yingtai Xiao, Guanlin He, Danfeng Zhang, Daniel Kifer",
            "An Optimal and Scalable Matrix Mechanism for Noisy Marginals under Convex Loss Functions",
            "NeurIPS 2023",
            "https://arxiv.org/abs/2305.08175",
        ),
        Paper(
            "Bernstein18",
            "Garrett Bernstein, Daniel Sheldon",
            "Differentially Private Bayesian Inference for Exponential Families",
            "NeurIPS 2018",
            "https://arxiv.org/abs/1809.02188",
        ),
        Paper(
            "Ju22",
            "Nianqiao Ju, Jordan Awan, Ruobin Gong, Vinayak Rao",
            "Data Augmentation MCMC for Bayesian Inference from Privatized Data",
            "NeurIPS 2022",
            "https://arxiv.org/abs/2206.00710",
        ),
        Paper(
            "Talts18",
            "Sean Talts, Michael Betancourt, Daniel Simpson, Aki Vehtari, Andrew Gelman",
            "Validating Bayesian Inference Algorithms with Simulation-Based Calibration",
            "preprint, 2018",
            "https://arxiv.org/abs/1804.06788",
        ),
        Paper(
            "Balle18",
            "Borja Balle, Yu-Xiang Wang",
            "Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration and Optimal Denoising",
            "ICML 2018",
            "https://arxiv.org/abs/1805.06530",
        ),
        Paper(
            "Bun16",
            "Mark Bun, Thomas Steinke",
            "Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds",
            "TCC 2016",
            "https://arxiv.org/abs/1605.02065",
        ),
        Paper(
            "Canonne20",
            "Clément L. Canonne, Gautam Kamath, Thomas Steinke",
            "The Discrete Gaussian for Differential Privacy",
            "NeurIPS 2020",
            "https://arxiv.org/abs/2004.00010",
        ),
        Paper(
            "Notes",
            "unnamed authors",
            "Notes of DP - Bayesian Inference",
            "unpublished notes",
            "",
            called="the Notes",
        ),
        Paper(
            "dpbayes",
            "the dpbayes authors",
            "Corrections and sharper statements, each checked by a test of this project",
            "this project",
            "",
        ),
    )
}


THE_NOTES = (
    f"The Notes are an unpublished manuscript without named authors, *{PAPERS['Notes'].title}*, about exponential "
    "mechanisms that score posteriors by their Hellinger distance from the exact posterior."
)
"""The name of the Notes on the pages, for readers who do not know them."""

USUAL = "Zhang16"
"""The paper of a sentence that names none."""


@dataclass(frozen=True)
class Reference:
    """A place in a paper, for example Reference("Zhang16", "Corollary 2").

    Errors: ValueError when the paper's key is unknown.
    """

    paper: str
    place: str

    def __post_init__(self) -> None:
        if self.paper not in PAPERS:
            raise ValueError(f"Unknown paper {self.paper!r}; choose one of {', '.join(PAPERS)}.")

    def __str__(self) -> str:
        return f"[{self.paper}] {self.place}"

    @property
    def in_words(self) -> str:
        """The place as a sentence names it, such as "Theorem 1 (refined)", or "Lemma 3 of ALT 2014"."""
        place, _, detail = self.place.partition(", ")
        name = f"{place} ({detail})" if detail else place
        return name if self.paper == USUAL else f"{name} of {PAPERS[self.paper].name}"
