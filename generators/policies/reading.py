"""What an assistant says under policies, read by code: a refusal and its reason, and a question.

A refusal says no and gives the policy that forbids the call, in its own sentence or by the words
that set it apart from the call and from the other policies. Who lists all policies gives no reason.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from pydantic import JsonValue

from callwright.language.packs import LanguagePattern, packs_of
from callwright.language.schemas import scalars
from callwright.language.text import STOP, empty, fold, negations, stem, words_named, words_of
from callwright.warehouse.records import Call, EntryRule, Policy, ResultTurn, Sample

_REFUSES = LanguagePattern(r"@{rejects}|@{refuses}")
_ASKS = LanguagePattern(r"@[?]|@{asks_leave}")
_NAMES = ("name", "title")
_HALF, _MOST = 0.5, 0.75  # of a policy's words: it is meant, and it is told


def refuses(
    text: str,
    call: Call,
    policies: Collection[Policy],
    broken: Collection[str],
    wanted: Sequence[Call] = (),
) -> bool:
    """Whether a text says no to a call and gives a policy of those `broken`, and none that is not.

    The words that the policy shares with the call alone give no reason. Another policy is given if
    a sentence from the refusal on has the words that tell it from those `broken` and from all calls
    that the user wants: the one at issue, and `wanted`.
    """
    refusal = _REFUSES.of(text).search(text)
    if refusal is None:
        return False
    words = [
        (one.name in broken, _words(form))
        for one in policies
        for form in (one.says, one.because)
        if form
    ]
    known = Counter(word for _, one in words for word in one)
    deed = _words(" ".join((call.tool, *call.arguments)).replace("_", " "))
    values = [value for one in (call, *wanted) for value in scalars(dict(one.arguments))]
    told = deed | _words(" ".join(map(str, values)))
    told = told.union(*(one for is_broken, one in words if is_broken))

    def share(of: frozenset[str], said: frozenset[str]) -> float:
        """Return which share of these words is said; those of few policies count for more."""
        weights = {word: 1 / known[word] for word in of}
        return sum(weights[word] for word in of & said) / (sum(weights.values()) or 1)

    said = _words(text)
    is_given = any(share(one - deed or one, said) >= _HALF for is_broken, one in words if is_broken)
    others = [one - told for is_broken, one in words if not is_broken]
    sentences = _words_by_sentence(text[refusal.start() :])
    return is_given and not any(share(one, some) >= _MOST for one in others for some in sentences)


def _words(text: str) -> frozenset[str]:
    return frozenset[str]().union(*_words_by_sentence(text))


def _words_by_sentence(text: str) -> list[frozenset[str]]:
    dropped = empty(packs_of(text)) | negations() | words_named("conditions")
    row = (word.text for word in words_of(text).row)
    sentences = groupby(row, lambda word: word == STOP)
    return [
        frozenset(stem(word) for word in sentence if word not in dropped)
        for is_stop, sentence in sentences
        if not is_stop
    ]


def asks_leave(text: str, sample: Sample) -> bool:
    """Whether a text asks the user for leave to make the call at issue, and names its thing."""
    case, plain = sample.policy_case, fold(text)
    if case is None or not _ASKS.of(text).search(text):
        return False
    return any(fold(name) in plain for name in _names_of(sample, case.call.arguments.values()))


def _names_of(sample: Sample, values: Collection[JsonValue]) -> Iterator[str]:
    """Yield values, and the names under which the sample's results and conditions have them."""
    case = sample.policy_case
    for evidence in case.call.evidence if case else ():
        if isinstance(evidence.rule, EntryRule):
            yield from (one.value for one in evidence.rule.where if isinstance(one.value, str))
    ids = {str(value) for value in values if isinstance(value, str | int)}
    yield from ids
    entries = [
        entry
        for turn in sample.turns
        if isinstance(turn, ResultTurn)
        for result in turn.results
        for entry in _entries(result)
    ]
    holders = [one for one in entries if ids & {*map(str, scalars(one))}]
    owners = {str(value) for one in holders for name, value in one.items() if name.endswith("id")}
    for entry in (*holders, *(one for one in entries if str(one.get("id")) in owners)):
        yield from (str(entry[name]) for name in _NAMES if isinstance(entry.get(name), str))


def _entries(value: JsonValue) -> Iterator[dict[str, JsonValue]]:
    if isinstance(value, list):
        for member in value:
            yield from _entries(member)
    elif isinstance(value, dict):
        yield value
        for member in value.values():
            yield from _entries(member)
