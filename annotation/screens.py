"""The review screens: the words of each kind in each language, and Label Studio's configuration."""

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Literal, NamedTuple, TypeVar

from jinja2 import PackageLoader
from pydantic import ConfigDict, Field

from callwright.language.packs import packaged
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    CorrectionKind,
    Decision,
    DialogueAct,
    Language,
    Record,
)
from callwright.warehouse.records.samples import EvidenceKind, Test
from callwright.warehouse.templates import sandbox


class ShownWords(Record):
    """Words of a screen or a page.

    Only words used by code are declared; those that only templates show are extra fields.
    """

    model_config = ConfigDict(extra="allow")


class ScreenWords(ShownWords):
    """The words that every screen has; a screen's own are in `configs/<kind>.<language>.yaml`.

    `drawn` says why people see a randomly drawn subject, and `edited` why they see an edited
    one; "" if the question already says so.
    """

    title: str
    instruction: str
    reason: dict[str, str]
    drawn: str = ""
    edited: str = ""


class ProjectWords(ShownWords):
    """The words of a project around its screen: its task tables' names and text before its mark."""

    open: str
    answered: str
    mark: str


QuestionWords = Literal["calls", "partial", "idle", "task"]
PickWords = Literal[Test, "of", "where", "and", "later", "feed"]
_Words = TypeVar("_Words", bound=Record)


@cache
def interface_languages() -> tuple[Language, ...]:
    """Return the languages that the review screens have words in."""
    names = (file.name for file in files("callwright.annotation.configs").iterdir())
    split = (name.split(".") for name in names)
    return tuple(sorted(one[1] for one in split if one[0] == SAMPLE_REVIEW and one[-1] == "yaml"))


def read_words(made: type[_Words], kind: str, language: Language) -> _Words:
    """Return the words of a review kind's screen in one language, as the record `made`.

    Raises ConfigurationError if the screens have no words in it.
    """
    if language not in interface_languages():
        raise ConfigurationError(
            f"The review screens are not available in {language!r}; they are in"
            f" {', '.join(interface_languages())}."
        )
    return made.model_validate(packaged("callwright.annotation.configs", f"{kind}.{language}.yaml"))


class SampleScreenWords(ScreenWords):
    """Every word that an annotator of samples reads and that is not part of the sample."""

    question: dict[QuestionWords, str]
    kind: dict[str, str]
    none: str
    settled: str
    in_doubt: str
    user: str
    assistant: str
    result: str
    message: str
    no_calls: str
    no_call: str
    no_call_after_shift: str
    no_change: str
    no_arguments: str
    shift: str
    step: str
    entries: str
    more_rivals: str
    more_entries: str
    rule: dict[PickWords, str]
    no_evidence: str
    evidence_kind: dict[EvidenceKind, str]
    act: dict[DialogueAct, str]
    decision: dict[Decision, str]
    reading: str
    readings: str
    gold: str
    reader: str
    doubt: dict[str, str] = Field(default={})  # English is what checks declare
    check: dict[str, str]
    check_other: str
    at_turn: str
    managed: dict[str, str]
    required: str
    optional: str
    one_of: str
    returned: str
    not_given: str
    tool_called: str
    edit_words: str
    more_lines: str


class ToolWords(ScreenWords):
    """Every word that an annotator of tools reads and that is not part of a tool."""

    name: str
    description: str
    returns: str
    no_twin: str
    none: str
    returned: str


class CorrectionWords(ScreenWords):
    """Every word that an annotator of corrections reads and that is not part of a path."""

    request: str
    first_request: str
    none: str
    stopped: str
    idle: str
    kind: dict[CorrectionKind, str]


class DisambiguationWords(ScreenWords):
    """The words on the screen of competing entries that are not part of the sample."""

    more: str
    returned: str


class ActsWords(ScreenWords):
    """Every word that an annotator of dialogue acts reads and that is not part of the sample."""

    none: str
    returned: str


class AuditWords(ScreenWords):
    """The words on an auditor's screen that are not part of an answer.

    `mistake` explains the error types in plain words.
    """

    right: str
    wrong: str
    mistake: dict[str, str]
    no_gold: str
    says: str
    says_nothing: str
    unreadable: str
    no_arguments: str
    returned: str


class FindingWords(ScreenWords):
    """The words on the screen of findings that are not part of a finding."""

    unknown: str
    returned: str


# The words of each screen in one interface language.
words_in = cache(partial(read_words, SampleScreenWords, "sample_review"))
project_words_in = cache(partial(read_words, ProjectWords, "project"))
tool_words_in = cache(partial(read_words, ToolWords, "tool_review"))
correction_words_in = cache(partial(read_words, CorrectionWords, "correction"))
disambiguation_words_in = cache(partial(read_words, DisambiguationWords, "disambiguation"))
acts_words_in = cache(partial(read_words, ActsWords, "dialogue_acts"))
audit_words_in = cache(partial(read_words, AuditWords, "prediction_audit"))
finding_words_in = cache(partial(read_words, FindingWords, "finding_review"))
SAMPLE_REVIEW = "sample_review"
TOOL_REVIEW = "tool_review"
CORRECTION = "correction"
DISAMBIGUATION = "disambiguation"
DIALOGUE_ACTS = "dialogue_acts"
PREDICTION_AUDIT = "prediction_audit"
FINDING_REVIEW = "finding_review"
# the screen of sample review in a project of its own, where people are told the answers
TRAINING = "training"


_Columns = tuple[str, ...]


class _ReviewKind(NamedTuple):
    """The words of a screen, and the hidden and wide columns of its task tables."""

    words: Callable[[Language], ScreenWords]
    hidden: _Columns = ()
    wide: _Columns = ()


_PLAIN = ("conversation", "calls_shown", "earlier_calls", "tools", "other_tools")
_KINDS: Mapping[str, _ReviewKind] = {
    SAMPLE_REVIEW: _ReviewKind(
        words_in, (*_PLAIN, "rows", "question", "details", "passed"), ("request",)
    ),
    TOOL_REVIEW: _ReviewKind(tool_words_in, ("tool", "parameters")),
    CORRECTION: _ReviewKind(
        correction_words_in, ("request", "before", "after", "tools"), ("corrections",)
    ),
    DISAMBIGUATION: _ReviewKind(disambiguation_words_in, ("conversation", "strikes"), ("picked",)),
    DIALOGUE_ACTS: _ReviewKind(acts_words_in, ("conversation", "results"), ("acts",)),
    PREDICTION_AUDIT: _ReviewKind(audit_words_in, ("conversation", "whole", "tools"), ("answer",)),
    FINDING_REVIEW: _ReviewKind(finding_words_in, ("conversation", "document"), ("reason",)),
}
REVIEW_KINDS = tuple(_KINDS)
# what every project's tables were called before they had names in its language
_FORMER = ("Default", "Answered")


class Screen(Record):
    """What a Label Studio project of one review kind needs: title, config and instruction.

    `description` is the question that it asks and the text before the mark. `tables` names its
    tables of open and answered tasks; in them `hidden_columns` are hidden at first and
    `wide_columns` are wide. `titles` and `known_tables` are its titles and table names in all
    languages.
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
    """Return the words of a review kind's screen. Raises ConfigurationError for an unknown kind."""
    if kind not in REVIEW_KINDS:
        problem = f"There is no review kind {kind!r}; the kinds are {', '.join(REVIEW_KINDS)}."
        raise ConfigurationError(problem)
    return _KINDS[kind].words(language)


def screen_for(kind: str, language: Language = DEFAULT_LANGUAGE) -> Screen:
    """Return the screen of a review kind in a language; answers mean the same in all languages."""
    words = screen_words(kind, language)
    configs = sandbox(loader=PackageLoader("callwright.annotation", "configs"), autoescape=True)
    titles = {one: f"callwright: {screen_words(kind, one).title}" for one in interface_languages()}
    around = {one: project_words_in(one) for one in interface_languages()}
    asked = words.instruction.partition("</b>")[2].partition("</p>")[0]  # the opening question
    plain = " ".join(re.sub(r"<[^>]+>", "", asked).split())
    return Screen(
        kind=kind,
        title=titles[language],
        config=configs.get_template(f"{kind}.xml").render(words=words),
        instruction=words.instruction,
        description=f"{plain[:1].upper()}{plain[1:]}\n\n{around[language].mark}",
        tables=(around[language].open, around[language].answered),
        known_tables=(_FORMER, *((one.open, one.answered) for one in around.values())),
        titles=tuple(titles.values()),
        hidden_columns=_KINDS[kind].hidden,
        wide_columns=_KINDS[kind].wide,
    )
