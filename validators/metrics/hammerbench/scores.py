"""HammerBench's numbers over its own logs, as in the paper and in the newest release.

(EVALUATORS 1.4, 1.5) The published code divides by n + 1e-9 in some places and by n in others;
both are kept, so that its numbers come out to the digit.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain, repeat
from typing import TYPE_CHECKING, Literal, NamedTuple, assert_never

from callwright.language.packs import fallback, puts_spaces, sentence_ends, unspaced
from callwright.llm.written_calls import (
    ParsedReply,
    ReplyCall,
    parse_lenient,
    parse_toolace,
    unreadable,
)
from callwright.warehouse.errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from pydantic import JsonValue

    from callwright.warehouse.records import Arguments, Language


_EPSILON = 1e-9
_ROUGE_EPSILON = 1e-8
_CACHED = 65_536
THRESHOLD = 0.7
CATCH_ALL = "kwargs"
_SHOWN = 60
REFUSAL = "sorry"
_PIECES = {"all": slice(None), "first": slice(1), "last": slice(-1, None)}
SnapshotChoice = Literal["all", "first", "last"] | Sequence[Sequence[int]]


class LogRow(NamedTuple):
    """A reply as written and its label: an object with `name` and `arguments`, or a refusal."""

    predict: JsonValue
    label: JsonValue


Conversation = Sequence[LogRow]


class LogScores(NamedTuple):
    """The paper's metrics over conversations, as fractions; `problems` names unscorable rows."""

    func_acc: float
    pn_hr: float
    pn_mr: float
    args_acc: float
    pr: float
    sr: float
    rejection_rate: float
    conversations: int
    snapshots: int
    problems: tuple[str, ...] = ()


class FlatScores(NamedTuple):
    """The released code's metrics over single rows; its PN_FP and PN_FN are pn_hr and pn_mr.

    They are fractions and means.
    """

    func_acc: float
    pn_hr: float
    pn_mr: float
    args_acc: float
    rejection_rate: float
    string_ratio: float
    mean_hallucinated: float
    mean_missing: float
    rows: int
    problems: tuple[str, ...] = ()


class SnapshotResult(NamedTuple):
    """What one reply got right; `problem` says why it could not be scored as a call, or is "".

    `arguments_exact` says that the values are exactly the label's, whereas `arguments_right`
    lets words differ (Rouge-L). `hallucinated` counts the names that the label lacks,
    `undefined` those that the tool's definition lacks, None if there is no definition.
    """

    tool_right: bool
    arguments_right: bool
    hallucinated: int = 0
    missing: int = 0
    refused: bool = False
    is_call: bool = True
    problem: str = ""
    undefined: int | None = None
    arguments_exact: bool = False

    @property
    def names_right(self) -> bool:
        """Whether a call has the label's tool and exactly its parameter names: the judge's gate."""
        return self.tool_right and not self.hallucinated and not self.missing


class ConversationResult(NamedTuple):
    """One conversation: where it first went wrong (None if nowhere), and how far it came."""

    first_wrong: int | None
    progress: float
    success: bool
    right: int


class Tally(NamedTuple):
    """Counts over conversations.

    `opened` are those whose first tool is right, `seen` their chosen snapshots.

    `defined` counts the seen snapshots whose tool has a known definition; `undefined` counts
    those of them that use a name which it lacks.
    """

    conversations: int
    opened: int
    refused: int
    snapshots: int
    right: int
    progress: float
    successes: int
    seen: int
    hallucinated: int
    missing: int
    defined: int
    undefined: int
    exact: int = 0


def score_conversations(
    conversations: Sequence[Conversation],
    *,
    choice: SnapshotChoice = "all",
    flags: Sequence[Sequence[bool]] | None = None,
    language: Language | None = None,
    style: Style = "default",
) -> LogScores:
    """Return the scores of whole conversations (HammerBench 6.1.1).

    `flags` are a judge's; None scores the arguments by rule. `language` is that of the values,
    None for the one that stands for all texts that show no other. Raises RecordError if flags or
    snapshots do not fit the conversations.
    """
    spoken = language or fallback()
    results = [[score_snapshot(row, spoken, style) for row in rows] for rows in conversations]
    chosen = choose_snapshots([len(rows) for rows in results], choice)
    total = sum_up(Counter(map(tally_conversation, results, _decided(results, flags), chosen)))
    return LogScores(
        func_acc=_share(total.opened, total.conversations),
        pn_hr=total.hallucinated / (total.seen + _EPSILON),
        pn_mr=total.missing / (total.seen + _EPSILON),
        args_acc=_share(total.right, total.snapshots),
        pr=total.progress / (total.conversations + _EPSILON),
        sr=total.successes / (total.conversations + _EPSILON),
        rejection_rate=_share(total.refused, total.conversations),
        conversations=total.conversations,
        snapshots=total.snapshots,
        problems=tuple(_problems(results)),
    )


def per_func_acc(scores: LogScores) -> dict[str, float]:
    """Return the "/Func Acc" variants of the paper's tables: metrics divided by Func Acc.

    They say how much of a metric is left where the first tool is right.
    """
    return {
        f"{name}/func_acc": getattr(scores, name) / scores.func_acc if scores.func_acc else 0.0
        for name in ("args_acc", "pr", "sr")
    }


def score_rows(
    rows: Sequence[LogRow], *, language: Language, style: Style = "default"
) -> FlatScores:
    """Return the scores of single rows as the newest release does; `args_acc` ignores the tool."""
    results = [score_snapshot(row, language, style) for row in rows]
    named = [row for row in results if row.tool_right]
    total = len(results)
    return FlatScores(
        func_acc=_share(len(named), total),
        pn_hr=sum(row.hallucinated > 0 for row in named) / (len(named) + _EPSILON),
        pn_mr=sum(row.missing > 0 for row in named) / (len(named) + _EPSILON),
        args_acc=_share(sum(row.arguments_right for row in results), total),
        rejection_rate=_share(sum(row.refused for row in results), total),
        string_ratio=_share(sum(not row.is_call for row in results), total),
        mean_hallucinated=sum(row.hallucinated for row in results) / (total + _EPSILON),
        mean_missing=sum(row.missing for row in results) / (total + _EPSILON),
        rows=total,
        problems=tuple(f"Row {at}: {row.problem}" for at, row in enumerate(results) if row.problem),
    )


def irrelevant_rate(replies: Sequence[str]) -> float:
    """Return the metric Irrelevant (and IS): the share of replies that say sorry, or 0."""
    return _share(sum(is_refusal(reply) for reply in replies), len(replies))


def score_snapshot(row: LogRow, language: Language, style: Style = "default") -> SnapshotResult:
    """Compare a reply with its label; what crashes the published code fails with a reason."""
    label, reply = row.label, row.predict
    refused = isinstance(reply, str) and is_refusal(reply)
    failed = SnapshotResult(tool_right=False, arguments_right=False, refused=refused, is_call=False)
    if not isinstance(label, dict) or "name" not in label:
        return failed._replace(problem=f"the label {label!r} is no call")
    wanted = label.get("arguments")
    if not isinstance(wanted, dict):
        return failed._replace(problem=f"the label's arguments {wanted!r} are no object")
    if not isinstance(reply, str):
        return failed._replace(problem=f"the reply {reply!r} is no text", missing=len(wanted))
    parsed = parse_reply(reply, style)
    if not parsed.calls:
        problem = parsed.problem or "The reply makes no call."
        return failed._replace(
            problem=f"{problem} It begins: {reply[:_SHOWN]!r}", missing=len(wanted)
        )
    call = parsed.calls[0]
    tool_right = call.tool == label["name"]
    return SnapshotResult(
        tool_right=tool_right,
        arguments_right=arguments_match(wanted, call.arguments, language),
        hallucinated=hallucinated_names(wanted, call.arguments),
        missing=missing_names(wanted, call.arguments),
        refused=not tool_right and is_refusal(f"{call.tool} {call.arguments}"),
    )


def is_refusal(reply: str) -> bool:
    """Whether HammerBench counts a reply as a refusal: it says sorry."""
    return REFUSAL in reply.lower()


def tally_conversation(
    results: Sequence[SnapshotResult], flags: Sequence[bool], picked: Sequence[int]
) -> Tally:
    """Return a conversation's counts at the snapshots `picked`; `flags` say which are right.

    There is a flag for each of its snapshots.
    """
    opened = bool(results) and results[0].tool_right
    turns = score_turns([flags[index] for index in picked], func_right=opened)
    seen = [results[index] for index in picked] if opened else []
    return Tally(
        conversations=1,
        opened=opened,
        refused=bool(results) and results[0].refused,
        snapshots=len(picked),
        right=turns.right,
        progress=turns.progress,
        successes=turns.success,
        seen=len(seen),
        hallucinated=sum(row.hallucinated > 0 for row in seen),
        missing=sum(row.missing > 0 for row in seen),
        defined=sum(row.undefined is not None for row in seen),
        undefined=sum(bool(row.undefined) for row in seen),
        exact=sum(row.arguments_exact for row in seen),
    )


def sum_up(tallies: Mapping[Tally, int]) -> Tally:
    """Combine the tallies of many conversations, each given with its number of conversations."""
    columns = list(zip(*tallies, strict=True)) or [()] * len(Tally._fields)
    total = Tally(*(sum(map(operator.mul, column, tallies.values())) for column in columns))
    # not progress times number, which would be rounded: as if each had been added by itself
    steps = chain.from_iterable(repeat(one.progress, number) for one, number in tallies.items())
    return total._replace(progress=math.fsum(steps))


def score_turns(flags: Sequence[bool], *, func_right: bool) -> ConversationResult:
    """Return a conversation's progress, success and right snapshots.

    `func_right` says whether its first tool is right.
    """
    first_wrong = next((index for index, right in enumerate(flags) if not right), None)
    if not func_right:
        return ConversationResult(first_wrong, 0.0, success=False, right=0)
    progress = 1.0 if first_wrong is None else first_wrong / len(flags)
    return ConversationResult(
        first_wrong, progress, success=first_wrong is None and bool(flags), right=sum(flags)
    )


def choose_snapshots(lengths: Sequence[int], choice: SnapshotChoice) -> list[list[int]]:
    """Return the indices of the snapshots to score, one list per conversation.

    Indices beyond its end are dropped. Raises RecordError if a list of indices is not as long as
    the log.
    """
    if isinstance(choice, str):
        return [list(range(length))[_PIECES[choice]] for length in lengths]
    if len(choice) != len(lengths):
        raise RecordError(
            f"The snapshot list is for {len(choice)} conversations, but the log has {len(lengths)}."
        )
    return [
        [at for at in picked if -length <= at < length]
        for picked, length in zip(choice, lengths, strict=True)
    ]


def _decided(
    results: Sequence[Sequence[SnapshotResult]], flags: Sequence[Sequence[bool]] | None
) -> list[list[bool]]:
    """Return whether each snapshot is right, by rule or by the judge's flags.

    With flags, tool and parameter names must be right too. Raises RecordError if the flags do
    not fit.
    """
    if flags is None:
        return [[row.arguments_right for row in rows] for rows in results]
    if [len(one) for one in flags] != [len(one) for one in results]:
        raise RecordError(
            f"The judge's flags are for {len(flags)} conversations with {sum(map(len, flags))}"
            f" snapshots; the log has {len(results)} with {sum(map(len, results))}, or cuts them"
            " elsewhere."
        )
    return [
        [bool(flag) and row.names_right for flag, row in zip(judged, rows, strict=True)]
        for judged, rows in zip(flags, results, strict=True)
    ]


def _problems(results: Sequence[Sequence[SnapshotResult]]) -> Iterator[str]:
    for at, rows in enumerate(results):
        if not rows:
            yield f"Conversation {at} has no snapshots."
        for index, row in enumerate(rows):
            if row.problem:
                yield f"Conversation {at}, snapshot {index}: {row.problem}"


def _share(count: int, total: int) -> float:
    return count / total if total else 0.0


def arguments_match(label: Arguments, given: JsonValue, language: Language) -> bool:
    """Whether `given` matches `label`: no name beyond it, values equal or close by Rouge-L."""
    if not isinstance(given, dict):
        return False
    wanted, given_texts = _as_texts(label), _as_texts(given)
    if not given_texts.keys() <= wanted.keys():
        return False
    if wanted == given_texts:
        return True
    wanted.pop(CATCH_ALL, None)
    given_texts.pop(CATCH_ALL, None)
    if wanted == given_texts or not wanted:
        return wanted == given_texts
    return all(
        name in given_texts and hammerbench_rouge_l(value, given_texts[name], language) >= THRESHOLD
        for name, value in wanted.items()
    )


def arguments_equal(label: Arguments, given: Arguments) -> bool:
    """Whether `given` has exactly the label's names and values as texts (5 is "5")."""
    return _as_texts(label) == _as_texts(given)


def hallucinated_names(label: Collection[str], given: Collection[str]) -> int:
    """Return how many given names are not the label's; valid optional ones count (PN_HR).

    This is PN_HR as published.
    """
    return sum(name not in label for name in given)


def missing_names(label: Collection[str], given: Collection[str]) -> int:
    """Return how many of the label's names were not given (PN_MR)."""
    return sum(name not in given for name in label)


def _as_texts(arguments: Arguments) -> dict[str, str]:
    return {
        name: value if isinstance(value, str) else str(value)
        for name, value in arguments.items()
        if value != ""
    }


@lru_cache(_CACHED)
def hammerbench_rouge_l(reference: str, hypothesis: str, language: Language) -> float:
    """Return the F value of a predicted value, 0 if either has nothing left to compare.

    Two empty values give 1.
    """
    if not reference or not hypothesis:
        return float(reference == hypothesis)
    expected, given_sentences = _sentences(reference, language), _sentences(hypothesis, language)
    if not expected or not given_sentences:
        return 0.0
    shared = {
        word
        for wanted in expected
        for stated in given_sentences
        for word in _shared_words(wanted, stated)
    }
    recall = len(shared) / len({*chain.from_iterable(expected)})
    precision = len(shared) / len({*chain.from_iterable(given_sentences)})
    return 2.0 * (precision * recall / (precision + recall + _ROUGE_EPSILON))


def _sentences(text: str, language: Language) -> list[list[str]]:
    bare = text.strip(f"{sentence_ends(language)} ")
    spaced = bare.lower() if puts_spaces(language) else _unspaced_letter().sub(r" \1 ", bare)
    if not spaced:
        return []
    return [" ".join(sentence.split()).split(" ") for sentence in spaced.split(".") if sentence]


@cache
def _unspaced_letter() -> re.Pattern[str]:
    return re.compile(f"([{unspaced()}])")


def _shared_words(wanted: list[str], stated: list[str]) -> list[str]:
    """Return the words of a longest common subsequence, the one the published code finds."""
    if wanted == stated:
        return wanted
    lengths = [[0] * (len(stated) + 1)]
    for word in wanted:
        above, here = lengths[-1], [0]
        for column, other in enumerate(stated):
            here.append(above[column] + 1 if word == other else max(here[-1], above[column + 1]))
        lengths.append(here)
    common_words: list[str] = []
    row, column = len(wanted), len(stated)
    while row and column:
        if wanted[row - 1] == stated[column - 1]:
            common_words.append(wanted[row - 1])
            row, column = row - 1, column - 1
        elif lengths[row - 1][column] > lengths[row][column - 1]:
            row -= 1
        else:
            column -= 1
    return common_words


Style = Literal["lenient", "default", "mistral", "xlam", "toolace"]

_FENCE = re.compile(r"```json(.*?)```", re.DOTALL)
_FIRST_CALL = '{"name"'
_OPENINGS = {"mistral": "[TOOL_CALLS][", "xlam": '"tool_calls": ['}
_UNSTATED = ("", "\\")


def parse_reply(text: str, style: Style) -> ParsedReply:
    """Return the calls of `text` in a model's style; `default` is HammerBench's own JSON style."""
    match style:
        case "lenient":
            return parse_lenient(text)
        case "toolace":
            return parse_toolace(text)
        case "default":
            return _parse_plainly(text)
        case "mistral" | "xlam":
            _, opening, rest = text.partition(_OPENINGS[style])
            if not opening:
                problem = (
                    f"The reply has no {_OPENINGS[style]!r}, with which calls of the style"
                    f" {style!r} begin."
                )
                return unreadable(problem)
            return _read_blocks([rest.partition("]")[0]])
        case _:
            assert_never(style)


def _parse_plainly(text: str) -> ParsedReply:
    """Return the calls in HammerBench's own style: one call with `parameters`, or its blocks."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and "parameters" in value and "name" in value:
        return ParsedReply((ReplyCall(value["name"], _cleaned(value["parameters"])),))
    return _read_blocks(_FENCE.findall(text) or [text[text.find(_FIRST_CALL) :]])


def _read_blocks(blocks: list[str]) -> ParsedReply:
    calls = []
    for block in blocks:
        try:
            value = _block_value(block)
        except (ValueError, RecursionError) as error:
            return unreadable(f"The reply holds no JSON that can be read: {error}.")
        if not isinstance(value, dict) or "name" not in value:
            return unreadable("The reply's JSON is no object with a name.")
        calls.append(
            ReplyCall(value["name"], _cleaned(value.get("arguments", value.get("parameters"))))
        )
    return ParsedReply(tuple(calls))


def _block_value(block: str) -> JsonValue:
    """Return the block as JSON, or else its last line: of parallel calls the last one counts.

    Raises ValueError if that is no JSON.
    """
    try:
        value: JsonValue = json.loads(block)
    except ValueError:
        lines = block.splitlines()
        value = json.loads(lines[-1]) if lines else json.loads("")
    return value


def _cleaned(arguments: JsonValue) -> Arguments:
    """Return the arguments that have a value; a value that is not an object gives none."""
    if not isinstance(arguments, dict):
        return {}
    return {name: value for name, value in arguments.items() if value not in _UNSTATED}
