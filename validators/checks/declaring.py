"""How a check is declared: once, at the function that finds what speaks against a record.

    @rule(
        "please", "1", "Does the user say please?",
        proof="Every turn says please.",
        doubts={"impolite": "The user does not say please{where}."},
    )
    def check_please(sample: Sample, context: StageContext) -> Iterator[Finding]:
        for at, turn in enumerate(sample.turns):
            if isinstance(turn, UserTurn) and "please" not in turn.text.lower():
                yield unproved(f"Turn {at} has no please.", DoubtedFact(kind="impolite", turn=at + 1))

What is declared is a row of the table of checks, and still a function: `await check_please(sample, context)` gives the verdicts.
There are four sorts. A `rule` is code. A `reader` is a model that reads the record without its gold and settles what it claims;
an `opinion` is asked of models alone that read language, and settles nothing; a `gate` stands before anything is made, and what
it does not prove is rejected.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeAlias, TypeVar

from callwright.generators.stages import Consistency, Role, Stage, StageContext
from callwright.language.packs import has_folder, of
from callwright.validators.checks.verdicts import SHOWN, Answer, Finding, answer_of, unproved
from callwright.warehouse.errors import CallwrightError, ConfigurationError, RecordError
from callwright.warehouse.records import (
    DoubtedFact,
    Record,
    Sample,
    SampleClaim,
    Verdict,
    WordedScenario,
)
from callwright.warehouse.registry import blame, is_ours, whose

GROUP = "consistency"
# What a sentence about a doubt may tell of its fact; `where` is the turn, and `argument` the name
# in brackets: both are "" where there is none.
PLACES = ("name", "value", "other", "words", "tool", "where", "argument", "said")
ARGUMENTS: tuple[SampleClaim, ...] = ("arguments",)
MEANING: tuple[SampleClaim, ...] = ("deed", "nothing_else", "no_call_missing")
ALL = ARGUMENTS + MEANING
Subject = TypeVar("Subject", bound=Record)
Found: TypeAlias = Iterable[Finding] | Answer
Finder: TypeAlias = Callable[[Subject, StageContext], Found | Awaitable[Found]]
Sort = Literal["rule", "reader", "opinion", "gate"]


def _always(_record: Record) -> bool:
    return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Check(Stage, Generic[Subject]):
    """A check: what is declared of it, and its function, which makes verdicts of what `find` finds."""

    sort: Sort
    version: str  # raised where it may decide otherwise about the same record
    find: Finder[Subject]
    proof: str = ""  # the reason of a verdict where nothing is found
    most: int | None = SHOWN  # how many findings a verdict's reason states
    settles: tuple[SampleClaim, ...] = ()  # the claims of a sample that it proves
    left_to: Literal["people", "readers"] = "people"  # who is asked about what a rule can't prove
    only_rest: bool = False  # asked only about what checks before it leave open and it may settle
    sees_whole: bool = False  # it reads faults and policies, too; others read the sample that was proved without them
    way: Consistency | None = None  # the way of reading that it belongs to, None where it belongs to each
    doubts: Mapping[str, str] = field(default_factory=dict)  # an English sentence for each kind

    def __post_init__(self) -> None:
        """Be its own function. Raises ConfigurationError where a sentence has a place that no fact fills."""
        object.__setattr__(self, "function", self.__call__)
        for kind, sentence in self.doubts.items():
            try:
                sentence.format(**dict.fromkeys(PLACES, ""))
            except (KeyError, IndexError, ValueError) as error:
                raise ConfigurationError(
                    f"The check {self.name!r} has a sentence for {kind!r} that can't be filled ({error!r});"
                    f" its places are {', '.join(PLACES)}."
                ) from error

    async def __call__(self, subject: Subject, context: StageContext) -> list[Verdict]:
        """The verdict on a record, and those of other checks that were told with it.

        Raises RecordError where a function of somebody else's breaks down; that of ours has a bug.
        """
        if self.sort == "rule" and self.settles and isinstance(subject, Sample):
            language = subject.language
            if not has_folder(language) and subject.all_calls:
                reason = f"No rules know the language {language!r} ({of(language).name})."
                return [self.verdict(subject, [unproved(reason, DoubtedFact(kind="not_read"))])]
        try:
            # of a sample with a fault or policies it reads the one without them, unless it sees the whole
            is_whole = self.sees_whole or not isinstance(subject, Sample)
            found = self.find(subject if is_whole else subject.underlying, context)  # type: ignore[attr-defined]
            answer = self._answer(await found if isinstance(found, Awaitable) else found)
        except CallwrightError:
            raise
        except Exception as error:
            if is_ours(self.find):
                raise
            raise RecordError(blame(f"check {self.name!r}", self.find, error)) from error
        return [self.verdict(subject, answer), *(one.with_changes(subject=subject.key) for one in answer.told)]

    def verdict(self, subject: Subject, found: Found) -> Verdict:
        """The verdict that what was found comes to."""
        stated = {name: value for name, value in vars(self._answer(found)).items() if name != "told"}
        return Verdict(subject=subject.key, check=self.name, version=self.version, **stated)

    def _answer(self, found: Found) -> Answer:
        return found if isinstance(found, Answer) else answer_of(self._only(found), self.proof, most=self.most)

    def _only(self, found: Iterable[Finding]) -> list[Finding]:
        """What was found. Raises RecordError where that is something else."""
        given = list(found) if isinstance(found, Iterable) else [found]
        wrong = next((one for one in given if not isinstance(one, Finding)), None)
        if wrong is not None or not isinstance(found, Iterable):
            raise RecordError(
                f"{whose(f'check {self.name!r}', self.find)} gives {wrong!r}; it gives findings, each made by"
                " `unproved` or `contradicted`, or an Answer."
            )
        return given


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
    """A check by code. One that settles claims proves nothing in a language without rules.

    What it leaves open is `left_to` people, or to readers that see the conversation alone.
    """

    def declare(find: Finder[Sample]) -> Check[Sample]:
        return Check(
            name, GROUP, question, "Sample", "Verdict", source, applies=applies,
            sort="rule", version=version, find=find, proof=proof, most=most, settles=settles,
            left_to=left_to, sees_whole=sees_whole, doubts=doubts or {},
        )  # fmt: skip

    return declare


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
    """A check by the model of a role, which reads the sample without its gold; `prompts` are those of validators/prompts.

    With `only_rest` it is asked where the checks before it leave something open that it settles; what it does not
    prove itself is `left_to` people, or to another reader behind it.
    """

    def declare(find: Finder[Sample]) -> Check[Sample]:
        return Check(
            name, GROUP, question, "Sample", "Verdict", source, None, role, _paths(prompts), applies,
            sort="reader", version=version, find=find, proof=proof, settles=settles,
            left_to=left_to, only_rest=only_rest, way=way, doubts=doubts or {},
        )  # fmt: skip

    return declare


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
    """What the judge thinks of a sample, where it is a model that reads language: template/v1 is not asked."""

    def declare(find: Finder[Sample]) -> Check[Sample]:
        return Check(
            name, GROUP, question, "Sample", "Verdict", source, None, "judge", _paths(prompts),
            applies, sort="opinion", version=version, find=find, proof=proof, doubts=doubts or {},
        )  # fmt: skip

    return declare


def gate(
    name: str, version: str, question: str, *, group: str, prompts: tuple[str, ...], source: str
) -> Declared[WordedScenario]:
    """A check of a scenario before anything is made of it, read by the judge: what it does not prove is rejected."""

    def declare(find: Finder[WordedScenario]) -> Check[WordedScenario]:
        return Check(
            name, group, question, "WordedScenario", "Verdict", source, None, "judge",
            _paths(prompts), sort="gate", version=version, find=find,
        )  # fmt: skip

    return declare


def _paths(prompts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"validators/prompts/{prompt}.j2" for prompt in prompts)
