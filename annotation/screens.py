"""The review screens: for each review kind, what Label Studio is instructed to show."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from jinja2 import Environment, PackageLoader, StrictUndefined

from callwright.annotation.words import (
    ScreenWords,
    acts_words_in,
    audit_words_in,
    correction_words_in,
    disambiguation_words_in,
    edit_form_words_in,
    interface_languages,
    project_words_in,
    tool_words_in,
    words_in,
)
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language, Record

SAMPLE_REVIEW = "sample_review"
TOOL_REVIEW = "tool_review"
CORRECTION = "correction"
DISAMBIGUATION = "disambiguation"
DIALOGUE_ACTS = "dialogue_acts"
PREDICTION_AUDIT = "prediction_audit"
TRAINING = (
    "training"  # the screen of sample review, in a project of its own, with questions whose answers people are told
)
REVIEW_KINDS = (SAMPLE_REVIEW, TOOL_REVIEW, CORRECTION, DISAMBIGUATION, DIALOGUE_ACTS, PREDICTION_AUDIT)

_WORDS: Mapping[str, Callable[[Language], ScreenWords]] = MappingProxyType(
    {
        SAMPLE_REVIEW: words_in,
        TOOL_REVIEW: tool_words_in,
        CORRECTION: correction_words_in,
        DISAMBIGUATION: disambiguation_words_in,
        DIALOGUE_ACTS: acts_words_in,
        PREDICTION_AUDIT: audit_words_in,
    }
)
_HIDDEN = {
    SAMPLE_REVIEW: (
        "conversation",
        "calls",
        "calls_shown",
        "earlier_calls",
        "tools",
        "other_tools",
        "details",
        "passed",
    ),
    CORRECTION: ("request", "before", "after", "tools"),
    DISAMBIGUATION: ("conversation", "strikes"),
    DIALOGUE_ACTS: ("conversation", "results"),
    PREDICTION_AUDIT: ("conversation", "whole", "tools"),
}
_WIDE = {
    SAMPLE_REVIEW: ("request",),
    CORRECTION: ("corrections",),
    DISAMBIGUATION: ("picked",),
    DIALOGUE_ACTS: ("acts",),
    PREDICTION_AUDIT: ("answer",),
}


_FORMER = ("Default", "Answered")  # what every project's tables were called before they had names in its language


class Screen(Record):
    """What a Label Studio project of one review kind needs: its title, labeling config and instruction.

    Its `description` is the question that it asks and what stands before the mark. Its tables of tasks, those of what is open
    and of what is answered, are called as `tables` says; in them the fields of `hidden_columns` are not shown at first, and those
    of `wide_columns` get room. `titles` and `known_tables` are those that it has in any language.
    """

    kind: str
    title: str
    config: str
    instruction: str
    description: str = ""
    tables: tuple[str, str] = ("Open", "Answered")
    known_tables: tuple[tuple[str, str], ...] = ()
    titles: tuple[str, ...] = ()
    hidden_columns: tuple[str, ...] = ()
    wide_columns: tuple[str, ...] = ()


def screen_words(kind: str, language: Language) -> ScreenWords:
    """The words of the screen of a review kind."""
    if kind not in REVIEW_KINDS:
        raise ConfigurationError(f"There is no review kind {kind!r}; the kinds are {', '.join(REVIEW_KINDS)}.")
    return _WORDS[kind](language)


def screen_for(kind: str, language: Language = DEFAULT_LANGUAGE, edit_page: str = "") -> Screen:
    """The screen of a review kind in an interface language; answers mean the same in every language.

    `edit_page` is the address under which samples are edited by form, "" where that page is not served.
    """
    words = screen_words(kind, language)
    has_form = edit_page and kind == SAMPLE_REVIEW
    by_form = {"address": edit_page, "link": edit_form_words_in(language).link} if has_form else {}
    configs = Environment(
        loader=PackageLoader("callwright.annotation", "configs"), autoescape=True, undefined=StrictUndefined
    )  # fmt: skip
    around = {one: project_words_in(one) for one in interface_languages()}
    return Screen(
        kind=kind,
        title=_title(words),
        config=configs.get_template(f"{kind}.xml").render(words=words, by_form=by_form),
        instruction=words.instruction,
        description=f"{_question(words)}\n\n{around[language].mark}",
        tables=(around[language].open, around[language].answered),
        known_tables=(_FORMER, *((one.open, one.answered) for one in around.values())),
        titles=tuple(_title(screen_words(kind, one)) for one in interface_languages()),
        hidden_columns=_HIDDEN.get(kind, ()),
        wide_columns=_WIDE.get(kind, ()),
    )


def _question(words: ScreenWords) -> str:
    """The question of a screen, with which its instruction opens, as plain text."""
    asked = words.instruction.partition("</b>")[2].partition("</p>")[0]
    plain = " ".join(re.sub(r"<[^>]+>", "", asked).split())
    return plain[:1].upper() + plain[1:]


def _title(words: ScreenWords) -> str:
    return f"callwright: {words.title}"
