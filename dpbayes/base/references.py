"""The papers, and where in them a claim stands: the single source for what comes from where."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A source text: how to cite it and where to read it."""

    key: str
    authors: str
    title: str
    venue: str
    link: str


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
            "Notes",
            "unnamed authors",
            "Notes of DP - Bayesian Inference",
            "unpublished notes",
            "",
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


@dataclass(frozen=True)
class Reference:
    """A place in a paper, for example Reference("Zhang16", "Corollary 2").

    Errors: ValueError when the paper's key is unknown.
    """

    paper: str
    place: str

    def __post_init__(self) -> None:
        if self.paper not in PAPERS:
            raise ValueError(f"Unknown paper {self.paper!r}; known are {', '.join(PAPERS)}.")

    def __str__(self) -> str:
        return f"[{self.paper}] {self.place}"
