"""What the tools for agents answer: records with a schema, each short enough to be read whole."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError

MOST_CHARACTERS = 40_000  # of an answer as JSON
_TEXTS = (2_000, 400, 80)  # characters of a text, the fewer the more there are
_FEWEST = 3  # items of a list that is cut


class AgentAnswer(BaseModel):
    """The answer of a tool; `shortened` says what of it was left out."""

    model_config = ConfigDict(frozen=True)

    shortened: list[str] = Field(
        default=[], description="What was left out of this answer to keep it short."
    )


class RecipeFindings(AgentAnswer):
    """What is wrong with a recipe, and what its tools do not allow."""

    is_valid: bool
    mistakes: list[str] = Field(description="Each with its file, line and column.")
    remarks: list[str] = Field(description="What is no mistake, such as kinds that can't be made.")


class KindTrial(BaseModel):
    """A kind of sample: how many of the tools it can use, and whether one landed when tried."""

    kind: str
    usable_tools: int
    tools: int
    has_landed: bool | None = Field(description="null where none was tried.")
    reason: str = Field(description="Why none or not more can be made.")


class ToolFindings(AgentAnswer):
    """What tools allow, and what is wrong with them."""

    tools: list[str]
    kinds: list[KindTrial]
    values_to_fill: list[str] = Field(
        description="Required parameters that need values under `values:` of the recipe."
    )
    constants_to_fix: list[str] = Field(
        description="Parameters that most tools require, to be fixed under `constants:`."
    )
    problems: list[str]


class EstimatedBuild(AgentAnswer):
    """What a build would ask and cost."""

    sentence: str
    planned: int
    calls: int
    prompt_tokens: int
    reply_tokens: int
    dollars: float | None = Field(description="null where a price is unknown.")
    seconds: float | None = Field(description="null where a model's pace is unknown.")
    notes: list[str]


class PreviewedSample(BaseModel):
    """A sample that was made and not kept."""

    kind: str
    language: str
    conversation: list[str]
    proved: list[str] = Field(description="Checks that have shown it right.")
    problems: list[str]


class PreviewedSamples(AgentAnswer):
    """Samples that were made and not kept."""

    samples: list[PreviewedSample]


class FoundRows(AgentAnswer):
    """Rows with their columns."""

    columns: list[str]
    rows: list[list[JsonValue]]
    has_more: bool = Field(description="Whether there are more rows than these.")


class BuiltSamples(AgentAnswer):
    """What a build has made."""

    build: str
    recipe: str
    asked: int
    planned: int
    accepted: int
    waiting: int = Field(description="Samples that wait for people.")
    is_trial: bool = Field(description="Whether releases leave it out unless it is named.")
    sentence: str
    remarks: list[str]
    kinds: list[dict[str, JsonValue]]
    funnel: list[dict[str, JsonValue]]


class FoundSample(BaseModel):
    """An accepted sample; `grade` is its weakest evidence: proved, judged or vouched."""

    key: str
    kind: str
    language: str
    grade: str
    request: str
    calls: list[dict[str, JsonValue]]
    tools: list[str]


class FoundSamples(AgentAnswer):
    """Accepted samples."""

    samples: list[FoundSample]
    has_more: bool


class FrozenRelease(AgentAnswer):
    """A release."""

    name: str
    version: str
    samples: int
    content_hash: str
    kinds: dict[str, int]
    splits: dict[str, int]
    left_out: list[str] = Field(description="Builds that are not or not wholly in it, and why.")


class FoundProblem(BaseModel):
    """What speaks against a gold call or value; `expected` is null where code can't say it."""

    where: str
    severity: str
    sort: str
    reason: str
    tool: str
    argument: str
    gold: JsonValue
    expected: JsonValue
    request: str


class AuditedSource(AgentAnswer):
    """What speaks against the gold of a data set."""

    audit: str = Field(description="Its key: select * from findings where audit = '…'")
    source: str
    format: str
    records: int
    unreadable: int
    has_failed: bool = Field(description="Whether a finding is an error that nobody refused.")
    counts: list[dict[str, JsonValue]]
    findings: list[FoundProblem] = Field(description="The gravest first.")


class WrongAnswer(BaseModel):
    """An answer of a candidate that is wrong or can't be read."""

    sample: str
    kind: str
    request: str
    due: JsonValue
    calls: JsonValue
    problem: str
    error_type: str | None


class EvaluatedModels(AgentAnswer):
    """How candidates did on a release; figures are fractions."""

    sentence: str
    candidates: list[str]
    leaderboard: list[dict[str, JsonValue]]
    failures: list[WrongAnswer] = Field(description="Of the first candidate.")


class WrittenExport(AgentAnswer):
    """What an export wrote, and what it left out."""

    files: list[str]
    rows: int
    splits: dict[str, int]
    left_out: list[str]


def plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """Return a value as JSON: times and paths as text, records as objects, no NaN."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else None
        case BaseModel():
            return value.model_dump(mode="json")
        case Mapping():
            return {str(name): plain(one) for name, one in value.items()}
        case tuple() if hasattr(value, "_asdict"):
            return plain(value._asdict())
        case list() | tuple():
            return [plain(one) for one in value]
        case _:
            return str(value)


def shortened(answer: AgentAnswer) -> dict[str, Any]:
    """Return an answer as JSON of at most MOST_CHARACTERS, and what was left out of it.

    Raises ConfigurationError if the first items of its lists are too long by themselves.
    """
    body: dict[str, Any] = answer.model_dump(mode="json")
    cut = body.pop("shortened")
    whole = {name: len(one) for name, one in body.items() if isinstance(one, list)}
    for most in _TEXTS:
        body = _with_short_texts(body, most)
        while (size := _size(body)) > MOST_CHARACTERS:
            lists = {name: _size(body[name]) for name in whole if len(body[name]) > _FEWEST}
            if not lists:
                break
            longest = max(lists, key=lambda name: lists[name])
            body[longest] = body[longest][: max(_FEWEST, len(body[longest]) // 2)]
        else:
            cut += [
                f"{name}: {len(body[name])} of {count_of(many, 'entry', 'entries')}"
                for name, many in whole.items()
                if len(body[name]) < many
            ]
            return body | {"shortened": cut}
    raise ConfigurationError(
        f"The answer has {size} characters, more than {MOST_CHARACTERS}. Ask for less, such as"
        " fewer columns."
    )


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def short_text(text: str, most: int) -> str:
    """Return a text, cut behind so many characters."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def _with_short_texts(value: Any, most: int) -> Any:  # noqa: ANN401 - JSON
    match value:
        case str():
            return short_text(value, most)
        case Mapping():
            return {name: _with_short_texts(one, most) for name, one in value.items()}
        case list():
            return [_with_short_texts(one, most) for one in value]
    return value
