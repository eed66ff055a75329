"""How to declare a check: decorate the function that finds what speaks against a record.

    @rule(
        "please", "1", "Does the user say please?",
        proof="Every turn says please.",
        doubts={"impolite": "The user does not say please{where}."},
    )
    def check_please(sample: Sample, context: StageContext) -> Iterator[Finding]:
        for at, turn in enumerate(sample.turns):
            if isinstance(turn, UserTurn) and "please" not in turn.text.lower():
                doubt = DoubtedFact(kind="impolite", turn=at + 1)
                yield unproved(f"Turn {at} has no please.", doubt)

A declared check is a row in the table of checks, and still a function:
`await check_please(sample, context)` returns the verdicts. A check that settles claims shows
what it found: `yield proved("…")`, or an Answer. Without findings it claims nothing (unproved).

There are four sorts. A `rule` is code and settles no meaning. A `reader` is a model that reads
the record without its gold and settles what it claims; an `opinion` is asked only of models that
read language, and settles nothing; a `gate` comes before anything is made, and rejects what it
does not prove.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import ValidationError

from callwright.generators.stages import Consistency, Role, Stage, StageContext
from callwright.language.packs import has_folder, of
from callwright.validators.checks.verdicts import SHOWN, Answer, Finding, answer_of, unproved
from callwright.warehouse.errors import (
    CallwrightError,
    ConfigurationError,
    RecordError,
    first_problem,
)
from callwright.warehouse.records import (
    DoubtedFact,
    Record,
    Sample,
    SampleClaim,
    Verdict,
    WordedScenario,
)
from callwright.warehouse.registry import is_ours, whose

GROUP = "consistency"
# What a sentence about a doubt may tell of its fact; `where` is the turn, and `argument` the name
# in brackets: both are "" where there is none.
PLACES = ("name", "value", "other", "words", "tool", "where", "argument", "said")
ARGUMENTS: tuple[SampleClaim, ...] = ("arguments",)
MEANING: tuple[SampleClaim, ...] = ("deed", "nothing_else", "no_call_missing")
RULES: tuple[SampleClaim, ...] = ("rules",)
ALL = ARGUMENTS + MEANING + RULES
# Of what several checks find; what one finds alone stands at its function.
SHARED_DOUBTS = {
    "unstated": "Nothing was found that says {name} = {value}.",
    "words_left": "“{words}”{where} belongs to no call.",
    "asked_not_made": "The user asks for what {tool} does{where}, and it is not called.",
    "order_amiss": "The call of {tool} stands in another order than is asked for or needed.",
    "call_repeated": "The same call of {tool} is due twice.",
    "kind_amiss": "The calls do not fit the kind of this sample.",
    "candidates_amiss": "The list of offered tools is not as it should be.",
    "tool_unknown": "{tool} is called, but is none of the offered tools.",
    "call_unfit": "The call of {tool} does not fit what the tool takes.",
    "required_missing": "{tool} requires {name}, and the call lacks it.",
    "result_amiss": "What {tool} returned is not what it returns when called again.",
    "not_read": "No rule could read this.",
    "unread": "The model that should read this gave no usable answer.",
}
Subject = TypeVar("Subject", bound=Record)
Found: TypeAlias = Iterable[Finding] | Answer
Finder: TypeAlias = Callable[[Subject, StageContext], Found | Awaitable[Found]]
Sort = Literal["rule", "reader", "opinion", "gate"]


def _always(_record: Record) -> bool:
    return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Check(Stage, Generic[Subject]):
    """A check: its declaration, and a function that turns what `find` finds into a verdict."""

    sort: Sort
    version: str  # raised where it may decide otherwise about the same record
    find: Finder[Subject]
    proof: str = ""  # the reason of a verdict where nothing is found
    most: int | None = SHOWN  # how many findings a verdict's reason states
    settles: tuple[SampleClaim, ...] = ()  # the claims of a sample that it proves
    left_to: Literal["people", "readers"] = "people"  # who is asked about what a rule can't prove
    only_rest: bool = False  # asked only about what checks before it leave open and it may settle
    # it reads faults and policies, too; others read the sample that was proved without them
    sees_whole: bool = False
    # the way of reading that it belongs to, None where it belongs to each
    way: Consistency | None = None
    doubts: Mapping[str, str] = field(default_factory=dict)  # an English sentence for each kind

    def __post_init__(self) -> None:
        """Make the check its own function.

        Raises ConfigurationError if a sentence has a placeholder that no fact fills.
        """
        object.__setattr__(self, "function", self.__call__)
        meant = [claim for claim in self.settles if claim in MEANING]
        if self.sort == "rule" and meant:
            raise ConfigurationError(
                f"The check {self.name!r} is a rule and settles {', '.join(meant)}. What words mean"
                " is read, so that only a reader settles it: declare it by @reader, or settle"
                " arguments, replies or message."
            )
        for kind, sentence in self.doubts.items():
            try:
                sentence.format(**dict.fromkeys(PLACES, ""))
            except (KeyError, IndexError, ValueError) as error:
                raise ConfigurationError(
                    f"The check {self.name!r} has a sentence for {kind!r} that can't be filled"
                    f" ({error!r}); its places are {', '.join(PLACES)}."
                ) from error

    async def __call__(self, subject: Subject, context: StageContext) -> list[Verdict]:
        """Return the verdict on a record, as a list of one.

        Raises RecordError if a user's function fails; a failure in callwright's own is a bug.
        """
        if self.sort == "rule" and self.settles and isinstance(subject, Sample):
            language = subject.language
            if not has_folder(language) and subject.all_calls:
                reason = f"No rules know the language {language!r} ({of(language).name})."
                return [self.verdict(subject, [unproved(reason, DoubtedFact(kind="not_read"))])]
        try:
            # of a sample with a fault or policies it reads the one without them, unless it sees the
            # whole
            is_whole = self.sees_whole or not isinstance(subject, Sample)
            found = self.find(subject if is_whole else subject.underlying, context)  # type: ignore[attr-defined]
            answer = self._answer(await found if isinstance(found, Awaitable) else found)
        except CallwrightError:
            raise
        except Exception as error:
            if is_ours(self.find):
                raise
            problem = f"{whose(f'check {self.name!r}', self.find, error)} {_told(error)}"
            raise RecordError(problem) from error
        return [self.verdict(subject, answer)]

    def verdict(self, subject: Subject, found: Found) -> Verdict:
        """Return the verdict that follows from the findings."""
        return Verdict(
            subject=subject.key, check=self.name, version=self.version, **vars(self._answer(found))
        )

    def _answer(self, found: Found) -> Answer:
        """Return the given answer, or the answer that follows from the findings.

        Raises RecordError if it names an undeclared doubt.
        """
        if isinstance(found, Answer):
            answer = found
        else:
            findings = self._only(found)
            if self.settles and not findings:
                reason = (
                    f"{self.name} shows nothing, so it proves nothing of what it settles:"
                    f" {', '.join(self.settles)}."
                )
                findings = [unproved(reason, DoubtedFact(kind="not_read"))]
            answer = answer_of(findings, self.proof, most=self.most)
        known = self.doubts.keys() | SHARED_DOUBTS.keys()
        unknown = [one.kind for one in answer.doubts if one.kind not in known]
        if unknown and not is_ours(self.find):
            raise RecordError(
                f"{whose(f'check {self.name!r}', self.find)} has no sentence for its doubt"
                f" {unknown[0]!r}; add it to `doubts`. Its doubts are"
                f" {', '.join(self.doubts) or 'none'}; those of all checks are"
                f" {', '.join(SHARED_DOUBTS)}."
            )
        return answer

    def _only(self, found: Iterable[Finding]) -> list[Finding]:
        """Return what was found. Raise RecordError if it is not findings."""
        findings = list(found) if isinstance(found, Iterable) else [found]
        wrong = next((one for one in findings if not isinstance(one, Finding)), None)
        if wrong is not None or not isinstance(found, Iterable):
            raise RecordError(
                f"{whose(f'check {self.name!r}', self.find)} gives {wrong!r}; it gives findings,"
                " each made by `unproved` or `contradicted`, or an Answer."
            )
        return findings


def _told(error: Exception) -> str:
    """Return what user code raised, as a sentence."""
    if not isinstance(error, ValidationError):
        return f"raised {type(error).__name__}: {error}"
    first, model_name = error.errors(include_url=False, include_input=False)[0], error.title
    if first["type"] != "extra_forbidden":
        return f"makes a {model_name} that can't be used: {first_problem(error)}."
    name, field_names = (
        str(first["loc"][-1]),
        [*DoubtedFact.model_fields] if model_name == "DoubtedFact" else [],
    )
    near = get_close_matches(name, field_names, 1)
    meant = f"; did you mean {near[0]!r}?" if near else "."
    listed = f" Its fields are {', '.join(field_names)}." if field_names else ""
    return f"gives a {model_name} the field {name!r}, which there is not{meant}{listed}"


Declared: TypeAlias = Callable[[Finder[Subject]], Check[Subject]]


def rule(  # noqa: PLR0913 - what is said of a check is said here
    name: str,
    version: str,
    question: str,
    *,
    source: str = "",
    applies: Callable[[Sample], bool] = _always,
    settles: tuple[SampleClaim, ...] = (),
    left_to: Literal["people", "readers"] = "people",
    proof: str = "",
    most: int | None = SHOWN,
    sees_whole: bool = False,
    doubts: Mapping[str, str] | None = None,
) -> Declared[Sample]:
    """Declare a check by code. It proves no claims in a language without rules.

    What it leaves open is `left_to` people, or to readers that see only the conversation.
    """
    return _declared(
        ("rule", name, version, question),
        source=source,
        applies=applies,
        proof=proof,
        most=most,
        settles=settles,
        left_to=left_to,
        sees_whole=sees_whole,
        doubts=doubts or {},
    )


def reader(  # noqa: PLR0913 - as `rule`
    name: str,
    version: str,
    question: str,
    *,
    role: Role,
    prompts: tuple[str, ...] = (),
    source: str = "",
    applies: Callable[[Sample], bool] = _always,
    settles: tuple[SampleClaim, ...] = (),
    left_to: Literal["people", "readers"] = "people",
    only_rest: bool = False,
    way: Consistency | None = None,
    proof: str = "",
    doubts: Mapping[str, str] | None = None,
) -> Declared[Sample]:
    """Declare a check by a role's model, which reads the sample without its gold.

    `prompts` are names in validators/prompts. With `only_rest` it is asked only if the checks
    before it leave something open that it settles; what it does not prove itself is `left_to`
    people or to a later reader.
    """
    return _declared(
        ("reader", name, version, question),
        source=source,
        role=role,
        templates=_paths(prompts),
        applies=applies,
        proof=proof,
        settles=settles,
        left_to=left_to,
        only_rest=only_rest,
        way=way,
        doubts=doubts or {},
    )


def opinion(  # noqa: PLR0913 - as `rule`
    name: str,
    version: str,
    question: str,
    *,
    prompts: tuple[str, ...] = (),
    source: str = "",
    applies: Callable[[Sample], bool] = _always,
    proof: str = "",
    doubts: Mapping[str, str] | None = None,
) -> Declared[Sample]:
    """Declare a check by the judge's opinion, asked only of models that read language."""
    return _declared(
        ("opinion", name, version, question),
        source=source,
        role="judge",
        templates=_paths(prompts),
        applies=applies,
        proof=proof,
        doubts=doubts or {},
    )


def gate(
    name: str, version: str, question: str, *, group: str, prompts: tuple[str, ...], source: str
) -> Declared[WordedScenario]:
    """Declare a check of a scenario, read by the judge, that rejects what it does not prove."""
    return _declared(
        ("gate", name, version, question),
        group=group,
        reads="WordedScenario",
        source=source,
        role="judge",
        templates=_paths(prompts),
    )


def _declared(
    about: tuple[Sort, str, str, str],
    *,
    group: str = GROUP,
    reads: str = "Sample",
    **said: Any,  # noqa: ANN401 - the fields of a check, which `rule` and the others have by type
) -> Declared[Any]:
    """What makes a check of the function that it is put before."""
    sort, name, version, question = about

    def declare(find: Finder[Any]) -> Check[Any]:
        shown = (name, group, question, reads, "Verdict")
        return Check(*shown, sort=sort, version=version, find=find, **said)

    return declare


def _paths(prompts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"validators/prompts/{prompt}.j2" for prompt in prompts)
