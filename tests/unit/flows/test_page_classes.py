"""A class of the pages means one thing: what is styled for one place does not meet another by
accident.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from callwright.flows import pages
from callwright.flows.pages.look import asset, page_words
from callwright.warehouse.browsing import OUTCOMES

TEMPLATES = Path(pages.__file__).parent / "templates"
CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")


def selectors_of(sheet: str) -> Iterator[str]:
    """The selectors of a style sheet one by one, those of media queries too."""
    for block in re.findall(r"([^{}]+)\{", re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)):
        head = block.rpartition(";")[2].strip()
        if not head.startswith("@"):
            yield from (one.strip() for one in re.split(r",(?![^(]*\))", head))


def meanings_of(sheet: str) -> dict[str, set[str]]:
    """What each class is: a thing by itself (""), a part of the thing that is named, or a state of
    others ("a state").

    A rule says so of the classes in the last step of its selector: `.turn` is a thing, `.turn .who`
    makes `.who` a part of turns, and `.badge.proved` makes `.proved` a state. `p.soft` and `.soft`
    are the same thing.
    """
    things = {
        CLASS.findall(step)[0]
        for one in selectors_of(sheet)
        for step in one.split()
        if CLASS.match(step)
    }
    found: dict[str, set[str]] = defaultdict(set)
    for selector in selectors_of(sheet):
        *before, last = re.split(
            r"\s*[>+~ ]\s*", re.sub(r"\[[^]]*\]|:{1,2}[\w-]+(\([^)]*\))?", "", selector)
        )
        owners = [name for step in before for name in CLASS.findall(step)[:1]]
        named = CLASS.findall(last)
        for name in named[:1]:
            is_state = not last.startswith(".") and name not in things
            found[name].add(
                "a state" if is_state else owners[0] if owners and owners[0] != name else ""
            )
        for name in named[1:]:
            found[name].add("a state")
    return dict(found)


def doubtful(sheet: str) -> dict[str, set[str]]:
    return {name: meanings for name, meanings in meanings_of(sheet).items() if len(meanings) > 1}


def test_each_class_is_one_thing_or_a_part_of_one_thing_or_a_state() -> None:
    assert doubtful(asset("page.css")) == {}


@pytest.mark.parametrize(
    "sheet",
    [
        ".turn .words { color: red } .words { display: grid }",
        ".call .tool { color: red } .form .tool { display: flex }",
        ".words { display: grid } @media (max-width: 9em) { .turn .words { display: block } }",
        ".badge.due { color: red } .due { display: grid }",
    ],
)
def test_a_class_that_is_two_things_is_seen(sheet: str) -> None:
    assert len(doubtful(sheet)) == 1


def test_the_style_sheet_and_the_templates_know_the_same_classes() -> None:
    styled = {
        name for selector in selectors_of(asset("page.css")) for name in CLASS.findall(selector)
    }
    texts = [
        path.read_text(encoding="utf-8")
        for path in TEMPLATES.iterdir()
        if path.suffix in {".html", ".js"}
    ]
    plain = {
        name
        for text in texts
        for names in re.findall(r'class="([^"{}]+)"', text)
        for name in names.split()
    }
    assert plain - styled == set(), "no rule is about these"
    data = {*OUTCOMES, *page_words()["states"], *page_words()["grades"], *page_words()["verdicts"]}
    data |= {f"{letter}{number}" for letter in ("c", "m", "heat") for number in range(12)}
    known = set(re.findall(r"[\w-]+", " ".join(texts)))
    assert styled - known - data == set(), "no template has these"
