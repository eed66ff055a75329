"""The review screens: for each review kind, what Label Studio is told to show."""

from collections.abc import Callable, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Protocol

from jinja2 import Environment, StrictUndefined

from annotation.path_words import correction_words_in, disambiguation_words_in
from annotation.tool_words import tool_words_in
from annotation.words import words_in
from warehouse.errors import ConfigurationError
from warehouse.records import Language, Record


class _Titled(Protocol):
    """The words of any screen."""

    @property
    def title(self) -> str: ...
    @property
    def instruction(self) -> str: ...


SAMPLE_REVIEW = "sample_review"
TOOL_REVIEW = "tool_review"
CORRECTION = "correction"
DISAMBIGUATION = "disambiguation"
REVIEW_KINDS = (SAMPLE_REVIEW, TOOL_REVIEW, CORRECTION, DISAMBIGUATION)

_WORDS: Mapping[str, Callable[[Language], _Titled]] = MappingProxyType(
    {
        SAMPLE_REVIEW: words_in,
        TOOL_REVIEW: tool_words_in,
        CORRECTION: correction_words_in,
        DISAMBIGUATION: disambiguation_words_in,
    }
)
_HIDDEN = {
    SAMPLE_REVIEW: ("conversation", "calls", "calls_shown", "tools", "other_tools", "passed"),
    CORRECTION: ("request", "before", "after"),
    DISAMBIGUATION: ("conversation", "strikes"),
}
_WIDE = {SAMPLE_REVIEW: ("request",), CORRECTION: ("corrections",), DISAMBIGUATION: ("picked",)}


class Screen(Record):
    """What a Label Studio project of one review kind needs: its title, labeling config and instruction.

    In its table of tasks the fields of `hidden_columns` are not shown at first, and those of `wide_columns` get room.
    """

    kind: str
    title: str
    config: str
    instruction: str
    hidden_columns: tuple[str, ...] = ()
    wide_columns: tuple[str, ...] = ()


def screen_for(kind: str, language: Language = "en") -> Screen:
    """The screen of a review kind in an interface language; answers mean the same in every language."""
    if kind not in REVIEW_KINDS:
        raise ConfigurationError(f"There is no review kind {kind!r}; the kinds are {', '.join(REVIEW_KINDS)}.")
    words = _WORDS[kind](language)
    source = files("annotation.configs").joinpath(f"{kind}.xml").read_text(encoding="utf-8")
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(source)
    return Screen(
        kind=kind,
        title=f"callwright: {words.title}",
        config=template.render(words=words),
        instruction=words.instruction,
        hidden_columns=_HIDDEN.get(kind, ()),
        wide_columns=_WIDE.get(kind, ()),
    )
