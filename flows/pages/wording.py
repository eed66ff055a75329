"""What the page calls things: verdicts, grades, states, mistakes and stages in plain words."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from callwright.annotation.screens import audit_words_in, words_in
from callwright.flows.stages import all_stages, prompt_paths
from callwright.llm.prompts import version_at
from callwright.warehouse.records import DEFAULT_LANGUAGE

STATES: Mapping[str, str] = {
    "landed": "landed",
    "waiting": "waits for people",
    "rejected": "rejected",
    "withdrawn": "taken back",
    "other": "in no build",
}
GRADES: Mapping[str, str] = {
    "proved": "proved by rules",
    "judged": "judged by a model",
    "vouched": "vouched for by a person",
    "open": "open",
}
_VERDICTS: Mapping[tuple[str, str], str] = {
    ("proved", "proved"): "proved by rule",
    ("proved", "judged"): "judged so by {model}",
    ("proved", "vouched"): "vouched for",
    ("proved", "open"): "found so by {model}, which made the sample",
    ("unproved", "open"): "not proved",
    ("contradicted", "open"): "contradicted",
}


class PromptText(NamedTuple):
    """A prompt that asked a model: the file it stands in, and its text."""

    path: str
    text: str


def verdict_words(decision: str, grade: str, model: str) -> str:
    """A check's decision, and what it rests on."""
    words = _VERDICTS.get((decision, grade), decision)
    return words.format(model=model or "a model")


def kind_words(kind: str) -> str:
    """What samples of a kind are, "" where nobody says."""
    return words_in(DEFAULT_LANGUAGE).kind.get(kind, "")


def error_words(error_type: str) -> str:
    """What is wrong with an answer of this error type, as short as the head of a column."""
    return error_type.replace("_", " ") or "no success"


def error_sentence(error_type: str) -> str:
    """What is wrong with an answer of this error type."""
    return audit_words_in(DEFAULT_LANGUAGE).mistake.get(error_type, error_words(error_type))


def stage_question(name: str) -> str:
    """What a stage does or a check asks, "" where it is no stage any more."""
    return _questions().get(name, "")


def prompts_of(version: str, kept: Mapping[str, PromptText]) -> list[PromptText]:
    """The prompts of a version: as the warehouse has `kept` them, else as the product ships them today."""
    found = (kept.get(one) or _prompts().get(one) for one in version.split("+"))
    return [one for one in found if one is not None]


@cache
def _questions() -> Mapping[str, str]:
    return {stage.name: stage.about for stage in all_stages()}


@cache
def _prompts() -> Mapping[str, PromptText]:
    top = files("callwright.flows").joinpath("..")
    return {
        version_at(path): PromptText(path, top.joinpath(path).read_text(encoding="utf-8"))
        for path in prompt_paths().values()
    }
