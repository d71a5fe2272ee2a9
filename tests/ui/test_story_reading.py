"""A story's file becomes a value, or one sentence that says what is wrong with it."""

import re
from pathlib import Path

import pytest

from dpbayes.base.validation import InputError
from dpbayes.ui.pages.stories.opened import KEYS, STORIES, Stories
from dpbayes.ui.pages.stories.reading import MOST_BYTES, MOST_LETTERS, MOST_STEPS, read_story
from dpbayes.ui.pages.stories.story import PARTS, Guess, Step, Story
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.link import query_of, settings_from
from dpbayes.ui.session.settings import Seat
from dpbayes.ui.widgets.numbers import NUMBERS
from tests.test_docs import ROOT, TEXTS, blocks

HEAD = """
title = "A ward"
question = "What is known of it?"
field = "Nursing"
learnt = "Something."
"""
STEP = """
[[steps]]
say = "Look."
do = "Move it."
watch = "What moves."
page = "explore"
"""


def read(text: str) -> Story:
    return read_story(text.encode(), KEYS)


def test_a_file_is_read_as_it_is_written() -> None:
    text = HEAD + (
        'next = "epsilon"\n[settings]\nsource = "cancer"\nepsilon = 2\n'
        + STEP
        + 'at = "question"\n[steps.settings]\nepsilon = 0.5\n[steps.guess]\nask = "How much?"\nnumber = "error"\n'
        + STEP
    )
    story = read(text)
    first = settings_from({"source": "cancer", "epsilon": "0.5"})[0]
    then = settings_from({"source": "cancer", "epsilon": "2"})[0]
    assert story == Story(
        "A ward",
        "What is known of it?",
        "Nursing",
        (
            Step("Look.", "Move it.", "What moves.", "explore", first, "question", Guess("How much?", "error")),
            Step("Look.", "Move it.", "What moves.", "explore", then),
        ),
        "Something.",
        "epsilon",
    )
    assert story == read("\ufeff" + text.replace("\n", "\r\n")), "as an editor of another system saves it"


def test_a_node_in_braces_has_its_readable_name_and_its_published_one_where_it_first_stands() -> None:
    steps = STEP.replace("Look.", "Who has {dysp}, a {nothing}, {a b} or {}?").replace("Move it.", "Guess {dysp}.")
    guess = '[steps.guess]\nask = "P({dysp} | {smoke})?"\nnumber = "exact probability"\n'
    votes = STEP.replace("What moves.", "{crime}, {dysp}, {mx_missile}") + '[steps.settings]\ndata = "house_votes_84"\n'
    first, other = read(HEAD.replace("Something.", "{mx_missile}, {dysp}") + steps + guess + votes).steps
    assert first.say == "Who has shortness of breath (dysp), a {nothing}, {a b} or {}?"
    assert first.do == "Guess shortness of breath."
    assert first.guess is not None
    assert first.guess.ask == "P(shortness of breath | smoking (smoke))?"
    assert other.watch == "crime, {dysp}, MX missile (mx_missile)", "as far as the step's own table has names"
    story = read(HEAD.replace("What is known of it?", "Of {dysp}?").replace("Something.", "{dysp}") + steps)
    assert (story.question, story.learnt) == ("Of shortness of breath (dysp)?", "shortness of breath")


def test_shipped_stories_say_a_published_name_once_beside_the_readable_one() -> None:
    for key, story in STORIES.items():
        seen: list[str] = []
        for step in story.steps:
            text = " ".join([step.say, step.do, step.watch, step.guess.ask if step.guess else ""])
            assert "{" not in text, key
            for node, readable in Chosen(step.settings).readable.items():
                beside = text.count(f"{readable.name} ({node})")
                assert text.count(f"({node})") == beside
                seen += [node] * beside
                if not readable.name.lower().endswith(node.lower()) and node not in WORDS:
                    assert len(re.findall(rf"\b{re.escape(node)}\b", text)) == beside, (key, node)
        assert len(set(seen)) == len(seen), key


WORDS = {"wet", "either", "A", "S", "E", "O", "R", "T"}
"""Names of nodes that are words of a sentence too."""


def test_a_step_has_its_own_seat_or_that_of_the_story() -> None:
    first, last = read('seat = "curator"\n' + HEAD + STEP + STEP + 'seat = "recipient"\n').steps
    assert (first.seat, last.seat) == (Seat.CURATOR, Seat.RECIPIENT)


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "not TOML": ("title = ", "The story is not TOML: "),
    "nested": ("a = " + "[" * 9_000, "The story is not TOML: "),
    "a long word": ("a" * 19_000, "Expected '=' after a key"),
    "a deep key": (".".join("a" * 9_000) + " = 1", "has a key of more than eight parts"),
    "a deep quoted key": ("['a'" + ' . "b"' * 3_000 + "]", "has a key of more than eight parts"),
    "not text": (b"\xff\xfe\x00", "not UTF-8"),
    "too large": ("#" * (MOST_BYTES + 1), f"up to {MOST_BYTES:,} bytes; this file has {MOST_BYTES + 1:,}"),
    "no title": (HEAD.replace("title", "titel"), 'no part called "titel"'),
    "title missing": (HEAD.replace('title = "A ward"', "") + STEP, "The story needs title"),
    "a number for a title": (HEAD.replace('"A ward"', "1") + STEP, "The story needs title"),
    "no steps": (HEAD, f"1 to {MOST_STEPS} steps; this story has 0"),
    "too many steps": (HEAD + STEP * (MOST_STEPS + 1), f"this story has {MOST_STEPS + 1}"),
    "steps are no list": (HEAD + "[steps]\nsay = 'x'", "not a list of [[steps]]"),
    "a step is no table": (HEAD + "steps = [1]", "Step 1 must be a table"),
    "unknown part of a step": (HEAD + STEP + "color = 1", 'Step 1 has no part called "color"'),
    "empty sentence": (HEAD + STEP.replace("Move it.", "  "), "Step 1 needs do"),
    "long sentence": (HEAD + STEP.replace("Look.", "x" * (MOST_LETTERS + 1)), f"the limit is {MOST_LETTERS}"),
    "long with names": (HEAD + STEP.replace("Look.", "{dysp} " * 20), "With readable names"),
    "unknown page": (HEAD + STEP + STEP.replace("explore", "admin"), 'Step 2: there is no page called "admin"'),
    "page is no text": (HEAD + STEP.replace('"explore"', "[]"), "there is no page called"),
    "unknown place": (HEAD + STEP + 'at = "cellar"', 'the page explore has no part called "cellar"'),
    "a place on a page without any": (
        HEAD + STEP.replace("explore", "release") + 'at = "picture"',
        "leave `at` out",
    ),
    "unknown setting": (HEAD + STEP + "[steps.settings]\nepsylon = 1", 'no setting called "epsylon"'),
    "setting out of range": (HEAD + STEP + "[steps.settings]\nepsilon = -1", "the setting epsilon is refused"),
    "setting of another kind": (HEAD + STEP + '[steps.settings]\nmechanism = "None"', "There is no mechanism called"),
    "setting of all steps out of range": (
        HEAD + "[settings]\nepsilon = -1\n" + STEP,
        "The story: the setting epsilon is refused",
    ),
    "an option that there is not": (
        HEAD + STEP + '[steps.settings]\n"release.reading" = "aloud"',
        'Recipient cannot be "aloud"; choose one of knows of the noise, takes counts as real.',
    ),
    "a node that there is not": (HEAD + STEP + '[steps.settings]\ntarget = "dyspnoea"', 'no node called "dyspnoea"'),
    "evidence that there is not": (HEAD + STEP + '[steps.settings]\nevidence = "smok~yes"', 'no node called "smok"'),
    "a state that there is not": (
        HEAD + STEP + '[steps.settings]\nevidence = "smoke~often"',
        'the node "smoke" has no state called "often"',
    ),
    "a row that there is not": (HEAD + STEP + '[steps.settings]\nrow = "dysp | bronc=yes"', "no CPT row called"),
    "setting is a list": (HEAD + STEP + "[steps.settings]\nepsilon = [1]", "must be a text or a number"),
    "a hostile drawing": (HEAD + STEP + '[steps.settings]\ngraph = "bayes:99999999"', "the setting graph is refused"),
    "settings are no table": (HEAD + STEP + "settings = 1", "settings must be a table"),
    "of all steps": (HEAD + "[settings]\nepsylon = 1\n" + STEP, 'no setting called "epsylon"'),
    "unknown number": (HEAD + STEP + "[steps.guess]\nask = 'x'\nnumber = '42'", 'no number called "42"'),
    "a number of another page": (
        HEAD + STEP + "[steps.guess]\nask = 'x'\nnumber = 'cells'",
        "explore has no number called",
    ),
    "a page without numbers": (
        HEAD + STEP.replace("explore", "lab") + "[steps.guess]\nask = 'x'\nnumber = 'cells'",
        "leave `guess` out",
    ),
    "an answer of its own": (
        HEAD + STEP + "[steps.guess]\nask = 'x'\nnumber = 'error'\nanswer = 3",
        'no part called "answer"',
    ),
    "unknown follower": (HEAD + "next = 'none'" + STEP, 'no story called "none"'),
    "follower is no text": (HEAD + "next = [1]" + STEP, "no story called"),
    "unknown seat": (HEAD + STEP + 'seat = "auditor"', 'no seat called "auditor"; choose one of curator, recipient'),
    "a seat that is no text": ("seat = 1\n" + HEAD + STEP, "The story: there is no seat called"),
    "the curator's seat at a person's own table": (
        HEAD + STEP + 'seat = "curator"\n[steps.settings]\ndata = "upload"',
        "Step 1 cannot set the seat curator",
    ),
} | {
    f"sets {name}": (HEAD + STEP + f"[steps.settings]\n{name} = '1'", f"cannot set {name}")
    for name in ("seat", "story", "step", "present")
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_one_sentence(name: str) -> None:
    given, said = REFUSED[name]
    with pytest.raises(InputError) as refused:
        read_story(given.encode() if isinstance(given, str) else given, KEYS)
    assert said in str(refused.value)
    assert len(str(refused.value)) < 1000
    assert "\n" not in str(refused.value)


def test_a_story_of_a_table_that_only_its_teacher_has_is_read() -> None:
    story = read(HEAD + STEP + '[steps.settings]\ndata = "upload"\ntarget = "ward"\nevidence = "nurse~yes"')
    assert story.steps[0].settings.target == "ward"


def test_stories_are_read_without_a_network_that_is_missing(copied_data: Path) -> None:
    (copied_data / "networks" / "asia.bif.gz").unlink()
    assert all(story.steps for story in Stories().values())


@pytest.mark.parametrize("key", STORIES)
def test_a_shipped_story_is_a_few_steps_that_a_link_could_set_and_leads_on(key: str) -> None:
    story = STORIES[key]
    assert 4 <= len(story.steps) <= 6
    assert story.next in set(STORIES) - {key}
    assert any(step.guess is not None for step in story.steps)
    for step in story.steps:
        assert settings_from(query_of(step.settings)) == (step.settings, ())


@pytest.mark.parametrize("key", STORIES)
def test_a_step_of_a_shipped_story_says_one_sentence(key: str) -> None:
    for step in STORIES[key].steps:
        assert step.say[-1] in ".?", step.say
        assert not re.search(r"[.?!] +[A-Z“]", step.say), step.say


def test_there_are_six_stories_with_titles_of_their_own() -> None:
    assert len(STORIES) == 6
    texts = [story.title for story in STORIES.values()]
    assert len(set(texts)) == len(texts)


def test_the_description_has_an_example_that_is_a_story_and_lists_every_part_and_number() -> None:
    text = TEXTS["docs/stories.md"]
    (example,) = blocks(text, "toml")
    assert len(read(example).steps) == 2
    for name, number in NUMBERS.items():
        assert f"| `{name}` | `{number.page}` | {number.means} |" in text
    for page, parts in PARTS.items():
        assert f"| `{page}` | {', '.join(f'`{part}`' for part in parts) or 'none'} |" in text
    for number in (MOST_BYTES, MOST_LETTERS, MOST_STEPS):
        assert f"{number:,}" in text


def test_the_pages_of_stories_are_pages_of_the_app() -> None:
    assert set(PARTS) <= {file.stem for file in (ROOT / "pages").glob("*.py")}
