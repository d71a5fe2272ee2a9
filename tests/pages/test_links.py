"""The state is the link; a hostile link is ignored part by part."""

import base64
import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.model.synthetic import MAX_RECORDS
from dpbayes.posteriors.dirichlet import LEAST_PRIOR, MOST_PRIOR
from dpbayes.posteriors.prior_rules import PriorKind, PriorRule
from dpbayes.sources.named_networks import MAX_NODES
from dpbayes.sources.shipped_tables import SHIPPED
from dpbayes.ui.session.graphs import MAX_CODE, Graph, code_of
from dpbayes.ui.session.link import left_out, query_of, settings_from
from dpbayes.ui.session.settings import EXPLORED_NAMES, PARAMETERS, Cpts, Seat, Settings
from tests.conftest import crossed, thorough
from tests.pages.conftest import PAGES, headline, open_page, plain, sentences, settings_of, slide, take_seat

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
nodes = words.filter(str.strip)  # a name of blanks alone is refused
graphs = st.lists(nodes, min_size=1, max_size=4, unique=True).map(lambda names: code_of(Graph(tuple(names), ())))
specs = st.one_of(st.sampled_from(["asia", "alarm", "bayes:3", "chain:5"]), graphs)
seeds = st.integers(0, 2**32 - 1)


def values(note: Parameter | Choice) -> st.SearchStrategy[Any]:
    """Draw any value that a parameter or an option may have."""
    if isinstance(note, Choice):
        return st.sampled_from(note.options)
    return st.integers(int(note.low), int(note.high)) if note.whole else st.floats(note.low, note.high)


parameters = st.fixed_dictionaries({}, optional={name: values(note) for name, note in PARAMETERS.items()}).map(
    lambda chosen: tuple(sorted(chosen.items(), key=lambda item: item[0]))
)

any_settings = st.builds(
    Settings,
    seat=st.sampled_from(Seat),
    data=st.sampled_from(["synthetic", "upload", *SHIPPED]),
    source=specs,
    cpts=st.sampled_from(Cpts),
    records=st.integers(0, MAX_RECORDS),
    data_seed=seeds,
    graph=st.one_of(st.just(""), specs),
    mechanism=st.sampled_from(EXPLORED_NAMES),
    prior=st.builds(PriorRule, st.sampled_from(PriorKind), st.floats(LEAST_PRIOR, MOST_PRIOR)),
    seed=seeds,
    target=words,
    state=words,
    evidence=st.lists(st.tuples(words, words), max_size=3).map(tuple),
    parameters=parameters,
)


@given(any_settings)
def test_a_link_reopens_the_same_view(settings: Settings) -> None:
    assert settings_from(query_of(settings)) == (settings, ())


def test_what_is_the_default_is_not_in_the_link() -> None:
    assert query_of(Settings()) == {}


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("0.5", PriorRule.symmetric(0.5)),
        ("capped", PriorRule()),
        ("capped:8", PriorRule(size=8)),
        ("bdeu", PriorRule(PriorKind.BDEU, 1)),
    ],
)
def test_a_link_states_a_prior(text: str, prior: PriorRule) -> None:
    settings, problems = settings_from({"epsilon": "2", "prior": text})
    assert (settings.prior, problems) == (prior, ())
    assert settings_from(query_of(settings)) == (settings, ())


def long_graph() -> str:
    """Return a graph whose text is too long for a link."""
    return code_of(Graph(long_names(100), ()))


def long_names(number: int, length: int = 60) -> tuple[str, ...]:
    """Return names that no compression makes much shorter."""
    return tuple(
        f"{i:03d}" + "".join(chr(0x4E00 + (i * j * 7919) % 20000) for j in range(1, length)) for i in range(number)
    )


def test_what_does_not_fit_stays_out_of_the_link() -> None:
    settings = Settings(
        graph=code_of(Graph(long_names(300), ())), evidence=(("a", "b" * MAX_CODE),), prior=PriorRule.symmetric(2)
    )
    assert query_of(settings) == {"prior": "2"}
    assert left_out(settings) == ("the drawn network", "the evidence")
    assert left_out(Settings(source=long_graph())) == ("the network that records are drawn from",)
    assert left_out(Settings(graph="alarm")) == ()


@pytest.mark.parametrize("page", thorough(PAGES, sample=PAGES[::4]))  # the bar of all pages says it
def test_every_page_says_what_the_link_leaves_out(page: str) -> None:
    sentence = "The link leaves out the drawn network: it is too long for an address."
    at = open_page(page, Settings(graph=long_graph()))
    assert any(plain(c.value).startswith(sentence) for c in at.caption)
    assert any(plain(w.value).startswith(sentence) for w in at.get("popover")[0].warning)


@given(st.dictionaries(words.map("x{}".format), words))
def test_unknown_parts_are_passed_over(query: dict[str, str]) -> None:
    assert settings_from(query) == (Settings(), ())


@given(
    st.sampled_from(["seat", "data", "source", "records", "graph", "evidence", "prior", *PARAMETERS]),
    st.text(),
)
def test_any_text_is_read_or_refused_in_one_sentence(key: str, text: str) -> None:
    settings, problems = settings_from({"mechanism": "LaplaceFourier", key: text})
    assert settings.mechanism == "LaplaceFourier"
    assert len(problems) <= 1
    assert all(len(problem) < 400 for problem in problems)


def packed(content: Any) -> str:
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return "g:" + base64.urlsafe_b64encode(zlib.compress(text)).decode().rstrip("=")


def two(**other: Any) -> dict[str, Any]:
    return {"n": ["a", "b"], "e": [[0, 1]], "p": [None, None], "s": {}, **other}


REFUSED = {
    "unknown network": {"graph": "atlantis"},
    "unknown source": {"source": "<script>alert(1)</script>"},
    "epsilon 1e99": {"epsilon": "1e99"},
    "epsilon nan": {"epsilon": "nan"},
    "100 kB": {"graph": "g:" + "A" * 100_000},
    "1 MB": {"graph": "g:" + "A" * 1_000_000},
    "1 MB of a name": {"graph": "x" * 1_000_000},
    "zip bomb": {"graph": packed(b"[" + b" " * 30_000_000)},
    "random bytes": {"graph": "g:" + base64.urlsafe_b64encode(bytes(range(256))).decode()},
    "not base64": {"graph": "g:\N{SNOWMAN}%%"},
    "not an object": {"graph": packed([1, 2])},
    "half a character": {"graph": packed(two(n=["\ud800", "b"]))},
    "a place beyond numbers": {"graph": packed(two(p=[[10**400, 1], None]))},
    "a place that is text": {"graph": packed(two(p=[["x", "y"], None]))},
    "an arrow from nowhere": {"graph": packed(two(e=[[7, 1]]))},
    "an arrow from before": {"graph": packed(two(e=[[-1, 0]]))},
    "too many nodes": {"graph": packed(two(n=[str(i) for i in range(MAX_NODES + 1)], p=[None] * (MAX_NODES + 1)))},
    "deep": {"graph": packed(b"[" * 100_000)},
    "complete and huge": {"graph": "full:300"},
    "size": {"graph": "bayes:1e9"},
    "seat": {"seat": "admin"},
    "records": {"records": "1e12"},
    "seed": {"seed": "-1"},
    "prior": {"prior": "uniform"},
    "mechanism": {"mechanism": "Exact"},
    "cpts": {"cpts": "mine"},
    "long state": {"state": "x" * 10_000},
}


@pytest.mark.parametrize("hostile", REFUSED.values(), ids=REFUSED.keys())
def test_a_bad_part_gives_one_sentence_and_the_rest_is_kept(hostile: dict[str, str]) -> None:
    rest = {"data_seed": "7", "prior": "2.5"} if "prior" not in hostile else {"data_seed": "7"}
    settings, problems = settings_from({**hostile, **rest})
    assert len(problems) == 1
    assert len(problems[0]) < 300
    assert settings == settings_from(rest)[0]


def refused_texts(note: Parameter | Choice) -> list[str]:
    """Return texts that are no value of a parameter or an option."""
    if isinstance(note, Choice):
        return ["<script>", "", "nan"]
    beyond = [str(note.low - 1), str(10 * note.high + 1), "1e99", "-1e99"]
    return [*beyond, "nan", "inf", "", "<b>", "text", *(["2.5"] if note.whole else [])]


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_hostile_value_of_any_option_gives_one_sentence_and_the_rest_is_kept(name: str) -> None:
    for text in refused_texts(PARAMETERS[name]):
        settings, problems = settings_from({name: text, "data_seed": "7"})
        assert len(problems) == 1, text
        assert name in problems[0]
        assert len(problems[0]) < 400
        assert settings == Settings(data_seed=7)


@pytest.mark.parametrize("name", ["100 kB", "epsilon 1e99", "unknown source", "seat"])
def test_the_page_says_what_it_ignored_and_opens(name: str) -> None:
    at = open_page("pages/home.py", data_seed="7", **REFUSED[name])
    assert len(sentences(at)) == 1
    assert "the default is shown" in sentences(at)[0]
    assert settings_of(at).data_seed == 7
    assert "the default is shown" in sentences(at.run())[0], "until something changes"
    take_seat(at, Seat.RECIPIENT)
    assert not sentences(at)


READ_BUT_ODD = {
    "cycle": {"graph": packed(two(e=[[0, 1], [1, 0]]))},
    "cycle in the source": {"source": packed(two(e=[[0, 1], [1, 0]])), "cpts": "random"},
    "arrow to itself": {"graph": packed(two(e=[[0, 0]]))},
    "one name twice": {"graph": packed(two(n=["a", "a"]))},
    "no nodes": {"graph": packed(two(n=[], e=[], p=[]))},
    "no nodes in the source": {"source": packed(two(n=[], e=[], p=[])), "cpts": "random"},
    "no states": {"source": packed(two(s={"0": []})), "cpts": "random"},
    "far away": {"graph": packed(two(p=[[1e300, 1], None]))},
    "a long name": {"source": packed(two(n=["x" * 200, "b"])), "cpts": "random"},
    "strangers": {"graph": packed(two())},
    "another's probabilities": {"cpts": "given"},
    "another's table": {"data": "upload"},
    "unknown keys": {"constructor": "1", "__proto__": "2", "parameters": "3"},
    "unknown names": {"state": "nope", "target": "nobody", "evidence": "smoke~banana~~x~y~~dysp~yes~~asia"},
}


@pytest.mark.parametrize(("page", "odd"), crossed(PAGES, list(READ_BUT_ODD), times=1))
def test_an_odd_state_is_a_sentence_and_never_a_traceback(page: str, odd: str) -> None:
    query = READ_BUT_ODD[odd]
    for seat in Seat:
        at = open_page(page, seat=seat.value, **query)
        refusals = sentences(at)
        assert all(refusals.count(sentence) == 1 for sentence in refusals)
        assert all(len(sentence) < 400 for sentence in refusals)


def test_the_link_follows_the_page_and_back() -> None:
    at = open_page("pages/explore.py")
    slide(at, "epsilon", 2.5)
    at.selectbox(key="question.event").set_value(("lung", "yes")).run()
    query = {key: value[0] if isinstance(value, list) else value for key, value in at.query_params.items()}
    again = open_page("pages/explore.py", **query)
    assert settings_of(again) == settings_of(at)
    assert headline(again) == headline(at)
