"""Whether a sample differs from those before it: a repetition measures nothing new.

Two samples are duplicates if the same calls are due and the texts are alike. Requests that
differ in a value differ in their gold, so they are no duplicates. The same text with another
gold is worse: it is ambiguous and is contradicted too. A request in other words is found where
the same calls are due: values are masked, and the rest is compared turn by turn.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import ceil
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from weakref import finalize

import orjson
from pydantic import JsonValue

from callwright.language.packs import unspaced
from callwright.language.schemas import scalars
from callwright.language.text import fold
from callwright.validators.embeddings import likeness, read_ahead
from callwright.warehouse.records import KEY_BYTES, PolicyCase, Sample, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MASK = "…"
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_DIGITS = re.compile(r"\d+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_NOON = 12
_GRAM = 3  # characters in a row, spaces among them
# of the grams; below it nobody would see the same request, and nothing is embedded
_LEAST_SHARED = 0.1


class MaskedText(NamedTuple):
    """A conversation's turns without the values of its due calls, and the other numbers."""

    turns: tuple[str, ...]
    other_numbers: frozenset[str]


def mask_values(turns: Sequence[str], arguments: JsonValue) -> MaskedText:
    """Mask the values of the arguments where they occur literally, and all numbers."""
    values = [str(value) for value in scalars(arguments) if not isinstance(value, bool)]
    # what finds the values as whole words, the longest first
    listed = "|".join(re.escape(value) for value in sorted({*values} - {""}, key=len, reverse=True))
    value_pattern = None
    if listed:
        value_pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{listed})(?![A-Za-z0-9])", re.IGNORECASE)
    known_digits = set[str]()
    for digits in (digits for value in values for digits in _DIGITS.findall(value)):
        known_digits |= {digits, digits.lstrip("0")}  # 08 may be written as 8
        if _NOON < int(digits[:3]) < 2 * _NOON:  # and 20 as 8, where it is the hour in the evening
            known_digits.add(str(int(digits) - _NOON))
    plain = [_THOUSANDS.sub("", unicodedata.normalize("NFKC", turn)) for turn in turns]
    others = frozenset(digits for turn in plain for digits in _DIGITS.findall(turn)) - known_digits
    masked = tuple(
        _NUMBER.sub(_MASK, value_pattern.sub(_MASK, turn) if value_pattern else turn)
        for turn in plain
    )
    return MaskedText(masked, others)


def may_be_alike(one: MaskedText, other: MaskedText, least: float) -> bool:
    """Whether `likeness_of` may be `least` or more, a quick test by numbers and letters."""
    if one.other_numbers != other.other_numbers:
        return False
    needed = max(_LEAST_SHARED, 2 * least - 1)
    return all(shared_grams(*pair) >= needed for pair in zip(one.turns, other.turns, strict=True))


def likeness_of(one: MaskedText, other: MaskedText) -> float:
    """Return the similarity, 0 to 1, of the least similar turns; both have as many turns.

    Texts already read by `read_ahead` cost no time.
    """
    pairs = zip(one.turns, other.turns, strict=True)
    return min((shared_grams(*pair) + likeness(pair[:1], pair[1:])[0][0]) / 2 for pair in pairs)


def shared_grams(one: str, other: str) -> float:
    """Return the share of n-grams that two texts have in common."""
    mine, others = _grams(one), _grams(other)
    return len(mine & others) / len(mine | others)


@lru_cache(1024)
def _grams(text: str) -> frozenset[str]:
    spread = fold(text)
    return frozenset(spread[at : at + _GRAM] for at in range(max(1, len(spread) - _GRAM + 1)))


CHECK = "duplicates"
VERSION = "3"
THRESHOLD = 0.9
REWORDED = 0.5  # the precision at it stands in docs/checks.md
_TOKENS = re.compile(rf"[{unspaced()}]|[^\W{unspaced()}]+")
_AT_ONCE = 500  # texts whose other wordings are looked for together
# What a sample is to the one before it that decides about it, one byte each; none decides about
# most.
_NEW, _REPEATED, _SAME_END, _OTHER_CALLS, _ALIKE, _REWORDED = range(6)


def short_hash(text: str) -> int:
    """Return an eight-byte hash of a text as a number, the same in every process."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), signed=True)


def find_duplicates(
    keys: Sequence[str],
    compared: ComparedSamples,
    *,
    known: Sequence[str] = (),
    threshold: float = THRESHOLD,
    reworded: float | None = REWORDED,
) -> Iterator[Verdict]:
    """Yield a verdict for each sample on whether it is new, in order.

    A sample is compared with all `known` ones and the samples before it. Samples are named by
    their keys, and all are among those `compared`. Texts are alike from a Jaccard likeness of
    `threshold` on, and reworded from a likeness of `reworded` on (None: rewordings are not
    looked for). A sample that comes twice gets the same answer again.
    """
    entries = _Entries(compared, [*known, *keys])
    comparison = _Comparison(entries, threshold, reworded)
    comparison.compare()
    for position, key in enumerate(keys, len(known)):
        yield comparison.decided(position, key)


class ComparedSamples:
    """What samples are compared by, computed once per sample for any number of comparisons.

    It is kept in a file, with only a few numbers per sample in memory, because there may be
    millions. Texts with equal numbers by `hashed` are compared themselves, so `hashed` affects
    speed only.
    """

    def __init__(self, file: BinaryIO, hashed: Callable[[str], int] = short_hash) -> None:
        """Start without samples; `file` is empty and is closed with this object."""
        self.texts = array("q")  # hashes of what they say
        self.ends = array("q")  # hashes of what to
        self.requests = array("q")  # hashes of what is asked for, in whatever words
        self._keys = bytearray()
        self._file = file
        self._hashed = hashed
        self._offsets = array("q", [0])
        # there are few tools, and a sample may name a hundred
        self._candidates: dict[str, int] = {}
        finalize(self, file.close)

    def add(self, sample: Sample) -> None:
        """Compute and store what one more sample is compared by."""
        entry = _entry(
            sample,
            [self._candidates.setdefault(key, len(self._candidates)) for key in sample.candidates],
        )
        self._offsets.append(
            self._file.seek(self._offsets[-1]) + self._file.write(orjson.dumps(tuple(entry)))
        )
        self._keys += bytes.fromhex(entry.key)
        self.texts.append(self._hashed(entry.text))
        self.ends.append(self._hashed("\n".join(entry.end)))
        self.requests.append(self._hashed("\n".join(entry.request or (entry.key,))))

    def lacking(self, keys: Sequence[str]) -> list[str]:
        """Return which of these samples have not been added yet."""
        return [key for key, place in zip(keys, self.places(keys), strict=True) if place < 0]

    def places(self, keys: Sequence[str]) -> array[int]:
        """Return the position of each of these samples, -1 for one that was not added."""
        import numpy as np

        mine, wanted = (
            np.frombuffer(kept, f"S{KEY_BYTES}")
            for kept in (self._keys, bytes.fromhex("".join(keys)))
        )
        if not len(mine):
            return array("q", [-1]) * len(keys)
        order = np.argsort(mine)
        found = order[np.searchsorted(mine, wanted, sorter=order) % len(mine)]
        return array("q", np.where(mine[found] == wanted, found, -1).tobytes())

    def read(self, place: int) -> _ComparedText:
        """Return what the sample at a position is compared by."""
        begin, end = self._offsets[place], self._offsets[place + 1]
        self._file.seek(begin)
        return _ComparedText(*orjson.loads(self._file.read(end - begin)))


class _ComparedText(NamedTuple):
    """What is compared of a sample.

    The first `own` words of the text belong to the conversation, the others to its messages.
    """

    key: str
    kind: str
    gold: str
    text: str
    own: int
    candidates: list[int]
    tools: list[str]
    language: str
    turns: list[str]  # the text of each turn of the user's and of each reply
    speakers: str

    @property
    def end(self) -> tuple[str, ...]:
        """What duplicates have in common, in whatever words."""
        return (self.kind, self.gold, *sorted(_DIGITS.findall(self.text)))

    @property
    def request(self) -> tuple[str, ...]:
        """What a request shares with the same one in other words.

        Empty if no call is due, because then nothing tells requests apart.
        """
        return (self.kind, self.language, self.speakers, self.gold) if self.tools else ()


class _Entries:
    """The samples of one comparison, by their position in it."""

    def __init__(self, compared: ComparedSamples, keys: Sequence[str]) -> None:
        self._compared = compared
        self._places = compared.places(keys)
        self.texts, self.ends, self.requests = (
            array("q", map(numbers.__getitem__, self._places))
            for numbers in (compared.texts, compared.ends, compared.requests)
        )

    def __len__(self) -> int:
        return len(self._places)

    def read(self, position: int) -> _ComparedText:
        return self._compared.read(self._places[position])


class _Comparison:
    """Finds the earlier sample that decides about each one: one with the same words or end.

    Samples are compared group by group, in their order within each, and only one group is in
    memory.
    """

    def __init__(self, entries: _Entries, threshold: float, reworded: float | None) -> None:
        self._entries = entries
        self._threshold = threshold
        self._reworded = reworded
        self._relations = bytearray(len(entries))
        self._others = array("q", bytes(8 * len(entries)))
        self._likenesses = array("d", bytes(8 * len(entries)))

    def compare(self) -> None:
        """Compare all samples."""
        for group in _groups(self._entries.texts):
            self._compare_texts(group)
        for group in _groups(self._entries.ends):
            self._compare_words(group)
        if self._reworded is not None:
            self._compare_requests(self._reworded)

    def decided(self, position: int, subject: str) -> Verdict:
        """Return the finding on the sample at a position, whose key is `subject`."""
        relation, earlier_position = self._relations[position], self._others[position]
        if relation == _REPEATED:
            return self.decided(earlier_position, subject)
        if relation == _NEW:
            reason = "It is unlike all before it."
            return Verdict(
                subject=subject, check=CHECK, version=VERSION, decision="proved", reason=reason
            )
        likeness, key = self._likenesses[position], self._entries.read(earlier_position).key
        reason = {
            _SAME_END: f"It says what {key} says, word for word, to the same end.",
            _OTHER_CALLS: f"It says what {key} says, word for word, but other calls are due.",
            _ALIKE: f"It is {likeness:.0%} like {key}, to the same end.",
            _REWORDED: (
                f"It asks for what {key} asks for, in other words: {likeness:.0%} alike without the"
                " values."
            ),
        }[relation]
        score = round(likeness, 4)
        return Verdict(
            subject=subject,
            check=CHECK,
            version=VERSION,
            decision="contradicted",
            score=score,
            reason=reason,
        )

    def _note(self, position: int, relation: int, other: int, likeness: float = 1.0) -> None:
        self._relations[position], self._others[position], self._likenesses[position] = (
            relation,
            other,
            likeness,
        )

    def _compare_texts(self, group: list[int]) -> None:
        """Note the first sample of the same text that has the same end or makes it ambiguous."""
        first: dict[str, int] = {}
        by_text: dict[str, list[tuple[int, _ComparedText]]] = defaultdict(list)
        for position in group:
            entry = self._entries.read(position)
            if first.setdefault(entry.key, position) != position:
                self._note(position, _REPEATED, first[entry.key])
                continue
            earlier = by_text[entry.text]
            for at, other in earlier:
                if other.gold == entry.gold or _is_ambiguous(entry, other):
                    self._note(
                        position, _SAME_END if other.gold == entry.gold else _OTHER_CALLS, at
                    )
                    break
            earlier.append((position, entry))

    def _compare_words(self, group: list[int]) -> None:
        """Note the nearest sample to the same end, if near enough and the text has not decided."""
        by_end: dict[tuple[str, ...], _Nearest] = defaultdict(lambda: _Nearest(self._threshold))
        for position in group:
            relation = self._relations[position]
            if relation == _REPEATED:
                continue
            entry = self._entries.read(position)
            alike = by_end[entry.end]
            # messages are left out: several requests may lean on one, and it is much longer than
            # they are
            words = array(
                "q", sorted({hash(token) for token in entry.text.split(" ")[: entry.own]})
            )
            if relation == _NEW:
                likeness, at = alike.find(words)
                if likeness >= self._threshold:
                    self._note(position, _ALIKE, at, likeness)
            alike.add(position, words)

    def _compare_requests(self, least: float) -> None:
        """Note the first sample with the same request in similar words, unless already decided.

        Pairs of many groups are decided together, because reading many texts at once takes much
        less time than one by one.
        """
        waiting: list[_Pair] = []
        for group in _groups(self._entries.requests):
            waiting += self._near_pairs(group, least)
            if len(waiting) >= _AT_ONCE:
                self._decide(waiting, least)
                waiting = []
        self._decide(waiting, least)

    def _near_pairs(self, group: list[int], least: float) -> Iterator[_Pair]:
        """Yield the undecided pairs of a group that may be alike, the later one first."""
        by_request: dict[tuple[str, ...], list[tuple[int, MaskedText]]] = defaultdict(list)
        for position in group:
            entry = self._entries.read(position)
            if not entry.request or self._relations[position] != _NEW:
                continue
            arguments = [arguments for due in orjson.loads(entry.gold) for _, arguments in due]
            text = mask_values(entry.turns, arguments)
            earlier = by_request[entry.request]
            yield from (
                _Pair(position, text, *other)
                for other in earlier
                if may_be_alike(text, other[1], least)
            )
            earlier.append((position, text))

    def _decide(self, pairs: list[_Pair], least: float) -> None:
        read_ahead(text for pair in pairs for text in (*pair.text.turns, *pair.other_text.turns))
        for pair in pairs:
            # only with what stays
            if self._relations[pair.position] == self._relations[pair.other] == _NEW:
                likeness = likeness_of(pair.text, pair.other_text)
                if likeness >= least:
                    self._note(pair.position, _REWORDED, pair.other, likeness)


class _Pair(NamedTuple):
    position: int
    text: MaskedText
    other: int
    other_text: MaskedText


class _Nearest:
    """Finds the nearest of the samples to the same end by their words, whatever their order.

    Two sets with a Jaccard likeness of t have an equal member among the first n - ceil(t n) + 1
    of each, in any fixed order. So only these few are indexed, and none that is near enough is
    missed.
    """

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._all: list[tuple[int, array[int]]] = []
        self._by_word: dict[int, list[int]] = defaultdict(list)

    def add(self, position: int, words: array[int]) -> None:
        for word in self._prefix(words):
            self._by_word[word].append(len(self._all))
        self._all.append((position, words))

    def find(self, words: array[int]) -> tuple[float, int]:
        """Return the similarity and position of the nearest; 0 if there is none."""
        found = {at for word in self._prefix(words) for at in self._by_word.get(word, ())}
        mine, best, nearest = set(words), 0.0, 0
        for position, others in (self._all[at] for at in sorted(found)):
            shared = sum(word in mine for word in others)
            likeness = shared / (len(mine) + len(others) - shared)
            if likeness > best:
                best, nearest = likeness, position
        return best, nearest

    def _prefix(self, words: array[int]) -> array[int]:
        return words[: len(words) - ceil(self._threshold * len(words)) + 1]


def _groups(hashes: array[int]) -> Iterator[list[int]]:
    """Yield the positions of each hash that occurs more than once, in order."""
    import numpy as np

    order = np.argsort(np.frombuffer(hashes, np.int64), kind="stable")
    ordered = np.frombuffer(hashes, np.int64)[order]
    is_again = np.concatenate(([False], ordered[1:] == ordered[:-1], [False]))
    del ordered  # 8 MB for a million
    for begin, last in np.flatnonzero(is_again[1:] != is_again[:-1]).reshape(-1, 2):
        yield order[begin : last + 1].tolist()


def _entry(sample: Sample, candidates: list[int]) -> _ComparedText:
    # what the assistant asks is part of it: the same answers to other questions are another
    # conversation
    words = _tokens(turn.text for turn in sample.turns if turn.kind in ("user", "reply"))
    messages = [
        turn.external.text for turn in sample.turns if turn.kind == "user" and turn.external
    ]
    if sample.fault:  # the same words where something else goes wrong are another sample
        messages += [sample.fault.sort, str(sample.fault.told or sample.fault.instead)]
    if sample.policy_case:  # so are they under policies
        messages += _laid(sample.policy_case)
    return _ComparedText(
        key=sample.key,
        kind=sample.kind,
        gold=_gold_key(sample),
        text=" ".join(words + _tokens(messages)),
        own=len(words),
        candidates=candidates,
        tools=[call.tool for call in sample.all_calls],
        language=sample.language,
        turns=[turn.text for turn in sample.turns if turn.kind in ("user", "reply")],
        speakers=" ".join(turn.kind for turn in sample.turns),
    )


def _laid(case: PolicyCase) -> list[str]:
    """Return what distinguishes samples with the same words under different policies."""
    return [case.policy, case.due, case.sort, *(["answered"] if case.until else [])]


def _tokens(texts: Iterable[str]) -> list[str]:
    return _TOKENS.findall(fold(" ".join(texts)))


def _gold_key(sample: Sample) -> str:
    """Return the due calls as one string, or the withheld tools if nothing is due."""
    due = [
        [(call.tool, call.arguments) for call in snapshot.calls] for snapshot in sample.snapshots()
    ]
    if sample.fault:
        due.append(
            [(sample.fault.sort, {"told": sample.fault.told, "instead": sample.fault.instead})]
        )
    if sample.policy_case:
        due.append([(" ".join(_laid(sample.policy_case)), {})])
    if not any(due):
        due.append([(key, {}) for key in sorted(sample.withheld)])
    return orjson.dumps(due, option=orjson.OPT_SORT_KEYS).decode()


def _is_ambiguous(one: _ComparedText, other: _ComparedText) -> bool:
    """Whether the same words ask for two things; that is allowed with different tools shown."""
    if one.tools and one.tools == other.tools:
        return True
    mine, others = set(one.candidates), set(other.candidates)
    return mine <= others or others <= mine
