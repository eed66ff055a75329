"""An assistant's last words over results: what it has done, and what was asked of which thing.

Things are named as the user named them: by their name, or by the rule that singles them out
("the cheapest delivery of Northern Lantern"). The sentences are patterns of the language.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from pydantic import BaseModel, JsonValue

from callwright.generators.multi_step.tool_graph import is_deed
from callwright.generators.stages import ATTEMPTS, StageContext, first_fit
from callwright.language.calls.entries import (
    is_number_of_thing,
    name_paths,
    noun_for,
    rank_words,
    text_at,
    value_in,
)
from callwright.language.names import (
    deed_of,
    function_words,
    humanise,
    participle,
    plural,
    split_name,
    with_article,
)
from callwright.language.packs import of, writes
from callwright.language.pages import as_sentence, filled, shapes_in
from callwright.llm.prompts import render
from callwright.llm.stated_schemas import Paragraph
from callwright.warehouse.answers import is_available, values_at
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    CallTurn,
    Condition,
    EntryRule,
    Evidence,
    GoldCall,
    Language,
    ReplyTurn,
    ResultTurn,
    Sample,
    Turn,
    UserTurn,
    content_key,
)

PROMPTS = "callwright.generators.multi_step.prompts"
TEMPLATE = "word_answer"
RESULT_PLACE = re.compile(r"turns\[(\d+)\]\.results\[(\d+)\]")
LONGEST = 4000
_MOST = 3  # fields of one thing
_MOST_OF_EACH = 2  # fields of each entry of a list
_LONGEST_VALUE = 80
_NAMES = ("name", "title", "label")
# nobody reads these out
_OPAQUE = frozenset({"id", "ids", "url", "token", "key", "slug", "code", "uuid", "currency"})
_STATE = frozenset({"status", "message", "success"})
_VERBS = frozenset({"get", "search", "find", "list", "read", "fetch", "query", "show"})
_AMOUNTS = frozenset({"price", "fee", "total", "cost", "amount", "fare", "deposit", "excess"})
_CHANGES = {"make": "make", "change": "change", "drop": "act", "restore": "act"}
_MOST_WORDS = 3  # of a value that stands without quotation marks
_NAME = re.compile(r"[^\W\d_]*[A-Z\d][\w-]*")  # what has a capital letter or a digit
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_READS = frozenset({"list", "search", "look"})
_SLOT = re.compile(r"\{(\w+)\}")


class Asked(NamedTuple):
    """A called tool, its response, and the paths of the fields that the user asks for.

    `call` and `thing` say what was done, and to which thing as the user named it ("" if none).
    """

    tool: str
    response: JsonValue
    fields: Sequence[str]
    call: GoldCall = GoldCall(tool="call")
    thing: str = ""
    is_done: bool = False

    @property
    def is_deed(self) -> bool:
        """Whether something was done, and nothing has to be told of the result."""
        is_reading = deed_of(function_words(self.tool)[0]) in _READS
        is_deed_by_name = is_deed(self.tool) or not (is_reading or telling_fields(self.response))
        return not self.fields and (self.is_done or is_deed_by_name)


def telling_fields(response: JsonValue, known: Collection[JsonValue] = ()) -> tuple[str, ...]:
    """Return the fields of a response that a user would ask for, in lists those of entries.

    Names come first. Nobody asks for what is `known` because the call says it.
    """
    every = dict.fromkeys(_fields(response, ""))
    # Where a key has a dot in its name ("prefect.flow"), no path leads there: nobody can ask for
    # that field.
    paths = [
        path
        for path in every
        if any("[]" in path or value not in known for value in values_at(response, path))
    ]
    # a status beside an id is the thing's own; without one it tells how the call went
    if isinstance(response, dict) and _STATE & response.keys() and not _is_thing(response):
        paths = [path for path in paths if path not in _STATE] or paths
    listed = [path for path in paths if "[]" in path]
    within = listed[0].partition("[]")[0] if listed else ""
    chosen = [path for path in listed if path.partition("[]")[0] == within] or paths
    named = sorted(chosen, key=lambda path: _last(path) not in _NAMES)
    return tuple(named[: _MOST_OF_EACH if listed else _MOST])


def _is_thing(response: Mapping[str, JsonValue]) -> bool:
    return any(split_name(name)[-1:] == ("id",) for name in response)


def field_words(path: str) -> str:
    """Return a field's name in words; "" if the entry itself is meant."""
    return " ".join(split_name(_last(path)))


def reported(
    sample: Sample, turns: Sequence[Turn] = (), source: Sample | None = None
) -> list[Asked]:
    """Return the calls that the user asks for, with their results.

    The `turns` are the sample's own unless others are given; `source` is the sample whose evidence
    says which things are meant, where the sample was made from it.
    """
    turns, source = turns or sample.turns, source or sample.underlying
    steps = [at for at, turn in enumerate(turns) if isinstance(turn, CallTurn)]
    known = {call.bare.key: call for call in source.all_calls}
    asked: list[Asked] = []
    for step, place in sample.facts.wanted:
        at = steps[step] if step < len(steps) else len(turns)
        calls, results = [*turns[at : at + 2], None, None][:2]
        if not isinstance(calls, CallTurn) or not isinstance(results, ResultTurn):
            continue
        if place >= min(len(calls.calls), len(results.results)):
            continue
        call = calls.calls[place]
        known_call = known.get(call.bare.key, call)
        thing = thing_of(known_call, source, full=True)
        fields = sample.facts.asked_of(step, place)
        asked.append(
            Asked(call.tool, results.results[place], fields, call, thing, bool(sample.changes))
        )
    return asked


def answer_of(asked: Sequence[Asked], language: Language) -> str:
    """Return what was done and what the responses say, in a sentence for each call."""
    sentences = [answer_sentence(one, language) for one in asked]
    return (
        of(language).space.join(dict.fromkeys(sentences))
        or shapes_in(language, "assistant.found")[0]
    )


def answer_sentence(asked: Asked, language: Language) -> str:
    """Return what was done by a call, or what its response says, in one or two sentences."""
    speaker = _Speaker(asked, language)
    return speaker.deed() if asked.is_deed else speaker.told()


class AnswerWording(BaseModel):
    """An assistant's last words, which say all that the plain ones say."""

    answer: Paragraph


async def with_worded_answer(sample: Sample, context: StageContext) -> Sample:
    """Return the sample with an answer in words of its own at its end.

    The plain answer stands where a model finds none that says just the same. Other words that
    follow the answer stay.
    """
    asked, last = reported(sample), next(reversed(sample.turns), None)
    plain, rest = answer_of(asked, sample.language), ""
    if isinstance(last, ReplyTurn):
        if not asked or not last.text.startswith(plain):
            return sample
        rest = last.text.removeprefix(plain)
    elif not asked:
        return sample.with_changes(turns=(*sample.turns, ReplyTurn(text=plain)))
    prompt = render(
        PROMPTS,
        TEMPLATE,
        request=sample.request,
        plain=plain,
        language=sample.language,
        seed=sample.origin.seed if sample.origin else 0,
    )
    try:
        worded = await first_fit(
            context,
            prompt,
            AnswerWording,
            lambda one: answer_problem(one.answer.strip(), sample, asked, plain),
            f"The answer broke its rules in {ATTEMPTS} wordings",
        )
        text = worded.answer.strip()
    except (RecordError, ReplyError):
        text = plain
    turns = sample.turns[:-1] if isinstance(last, ReplyTurn) else sample.turns
    return sample.with_changes(turns=(*turns, ReplyTurn(text=text + rest)))


def answer_problem(text: str, sample: Sample, asked: Sequence[Asked], plain: str) -> str:
    """Return why a text can't stand for the plain answer, or "".

    It must tell every value and name every thing, and tell no other value of the fields asked for.
    """
    if not text or len(text) > LONGEST:
        return f"the answer has {len(text)} characters; 1 to {LONGEST} are allowed."
    if writes(sample.language, plain) and not writes(sample.language, text):
        return f"it is not in the language {sample.language!r}."
    for one in asked:
        values = [value for path in one.fields for value in values_at(one.response, path)]
        said = [value for value in one.call.arguments.values() if _says(plain, value)]
        lacking = next((value for value in (*values, *said) if not _says(text, value)), None)
        if lacking is not None:
            return f"it does not tell {lacking!r}."
        names = _NAME.findall(one.thing)
        if unnamed := next((name for name in names if name not in text), ""):
            return f"it does not name {unnamed!r}."
    others = {str(value) for value in _values_alike(sample, asked) if not _says(plain, value)}
    strange = next((value for value in sorted(others) if _says(text, value)), None)
    strange = strange or next(
        iter(sorted({*_NUMBER.findall(text)} - {*_NUMBER.findall(plain)})), None
    )
    return f"it tells {strange!r}, which was not asked for." if strange else ""


def _says(text: str, value: JsonValue) -> bool:
    """Whether a text has a value as a word of its own; flags, lists and objects always count."""
    if isinstance(value, bool | dict | list):
        return True
    return re.search(rf"(?<![\w.]){re.escape(str(value))}(?!\w|[.,]\d)", text) is not None


def _values_alike(sample: Sample, asked: Sequence[Asked]) -> Iterator[JsonValue]:
    """Yield all texts that results have in fields of the names that were asked for."""
    names = {_last(path) for one in asked for path in one.fields} - {""}
    results = [turn.results for turn in sample.turns if isinstance(turn, ResultTurn)]
    stack: list[JsonValue] = [one for some in results for one in some]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            yield from (
                one for name, one in value.items() if name in names and isinstance(one, str) and one
            )
        stack += (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        )


def is_named(call: GoldCall, sample: Sample) -> bool:
    """Whether the user's first words name the thing that a call is about."""
    names = _NAME.findall(thing_of(call, sample, full=False))
    return bool(names) and all(name in sample.request for name in names)


def done_sentence(call: GoldCall, sample: Sample) -> str:
    """Return that a call of a sample was made, in a sentence."""
    thing = thing_of(call, sample, full=True)
    return answer_sentence(Asked(call.tool, None, (), call, thing, is_done=True), sample.language)


def deed_words(call: GoldCall, sample: Sample) -> str:
    """Return a call as something to do: "cancel the cheapest delivery of Northern Lantern".

    Its evidence is of the sample; without any, the thing is called by its id.
    """
    known = next((one for one in sample.all_calls if one.bare.key == call.bare.key), call)
    thing = thing_of(known, sample, full=True) or _by_id(call, sample.language)
    return _Speaker(Asked(call.tool, None, (), known, thing), sample.language).to_do()


def thing_of(call: GoldCall, sample: Sample, *, full: bool) -> str:
    """Return the thing that a call of a sample is about, as the user named it; "" if none is.

    A thing that has a name is called by it alone, or if `full` by the user's words with the name.
    """
    evidence = next((one for one in call.evidence if one.kind == "response" and one.path), None)
    return "" if evidence is None else _entry_words(evidence, sample, full=full)


def _by_id(call: GoldCall, language: Language) -> str:
    """Return words for the thing that a call names by its id, "" if it names none."""
    shapes = _shapes(language)["thing"]
    return next(
        (
            filled(shapes["by_id"], {"noun": _noun_of_id(name), "name": str(value)})
            for name, value in call.arguments.items()
            if is_number_of_thing(name)
        ),
        "",
    )


def _noun_of_id(name: str) -> str:
    return " ".join(split_name(name)[:-1])


def _entry_words(evidence: Evidence, sample: Sample, *, full: bool) -> str:
    """Return how the user names the entry from which a value was taken."""
    found = RESULT_PLACE.match(evidence.path)
    if found is None:
        return ""
    at, place = int(found[1]), int(found[2])
    giver, results = [*sample.turns[max(0, at - 1) : at + 1], None, None][:2]
    if not isinstance(giver, CallTurn) or not isinstance(results, ResultTurn):
        return ""
    if place >= min(len(giver.calls), len(results.results)):
        return ""
    shapes, rule = _shapes(sample.language)["thing"], evidence.rule
    inside = evidence.path[found.end() :].lstrip(".").rpartition(".")[0]
    entry = value_in(results.results[place], inside)
    entries = rule.entries if isinstance(rule, EntryRule) else inside.rpartition("[")[0]
    noun = noun_for(entries, giver.calls[place].tool)
    where = rule.where if isinstance(rule, EntryRule) else ()
    if not where and inside[-1:] != "]":
        return thing_of(giver.calls[place], sample, full=full)
    name = _name_of(entry, where)
    if name:
        return (
            (
                _users_words(sample, noun, name)
                or filled(shapes["called"], {"noun": noun, "name": name})
            )
            if full
            else name
        )
    words = _pointed(where, noun, sample)
    holder = thing_of(giver.calls[place], sample, full=full)
    return filled(shapes["holder"], {"entry": words, "thing": holder}) if holder else words


def _name_of(entry: JsonValue, where: Sequence[Condition]) -> str:
    """Return the name by which an entry is called, "" if it is singled out otherwise."""
    named = next((str(one.value) for one in where if one.test == "equals"), "")
    paths = name_paths([entry]) if not where else []
    return named or next(filter(None, (text_at(entry, path) for path in paths)), "")


def _pointed(where: Sequence[Condition], noun: str, sample: Sample) -> str:
    """Return words for an entry without a name; the noun is the user's if the rank has only one."""
    shapes = _shapes(sample.language)["thing"]
    for one in where:
        if one.test == "contains" and "contains" in shapes:
            noun = filled(shapes["contains"], {"noun": noun, "part": str(one.value)})
    for one in where:
        ranked = rank_words(one.test, one.field)
        if ranked and "ranked" in shapes:
            pattern = re.compile(re.escape(ranked).replace(r"\{\}", r"(\w+)"))
            nouns = {
                one
                for turn in sample.turns
                if isinstance(turn, UserTurn)
                for one in pattern.findall(turn.text)
            }
            noun = nouns.pop() if len(nouns) == 1 and len(where) == 1 else noun
            return filled(shapes["ranked"], {"ranked": ranked.format(noun.removeprefix("the "))})
        if one.test == "only" and "only" in shapes:
            return filled(shapes["only"], {"noun": noun})
    return noun if where or "some" not in shapes else filled(shapes["some"], {"noun": noun})


def _users_words(sample: Sample, noun: str, name: str) -> str:
    """Return the user's own words for a named thing, such as "the waiting parcel for Kit"."""
    pattern = re.compile(
        rf"\b[Tt]he (?:[\w-]+ ){{0,3}}?{re.escape(noun)} (?:\w+ )?{re.escape(name)}"
    )
    user_texts = (turn.text for turn in sample.turns if isinstance(turn, UserTurn))
    found = (pattern.search(text) for text in user_texts)
    return next((f"the{one[0][len('the') :]}" for one in found if one), "")


def _shapes(language: Language) -> Mapping[str, Any]:
    """Return the patterns of a language's answers; they are plain texts, no sentence templates."""
    data = of(language).data
    shapes: Mapping[str, Any] = data["answers"] if "answers" in data else _shapes(DEFAULT_LANGUAGE)
    return shapes


class _Speaker:
    """Says what came of one call; the call decides which of several patterns is used."""

    def __init__(self, asked: Asked, language: Language) -> None:
        self._asked, self._pack, self._shapes = asked, of(language), _shapes(language)
        call = asked.call
        self._rng = Random(content_key([asked.tool, call.arguments, list(asked.fields)]))
        self._words = function_words(asked.tool)
        self._kind = _CHANGES.get(deed_of(self._words[0]), "other")
        entries = {
            one.argument.partition("[")[0] for one in call.evidence if one.kind == "response"
        }
        self._values = {
            " ".join(split_name(name)): self._value(value)
            for name, value in call.arguments.items()
            if name not in entries and not is_number_of_thing(name)
        }

    def told(self) -> str:
        """Return what the response says about the fields that were asked for."""
        fields = self._asked.fields or telling_fields(self._asked.response)
        facts = list(self._facts(self._asked.response, fields))
        sentences = [self._facts_sentence(facts)] if facts else []
        lists: dict[str, list[str]] = {}
        for head, is_list, rest in (path.partition("[]") for path in fields):
            if is_list:
                lists.setdefault(head, []).append(rest.removeprefix("."))
        sentences += [self._list_sentence(head, inner) for head, inner in lists.items()]
        if not sentences:
            return self._told_at_large(self._asked.response)
        return self._pack.space.join(sentences)

    def _told_at_large(self, response: JsonValue) -> str:
        """Return what a response without fields to tell says: a plain value, all well, nothing."""
        if isinstance(response, str | int | float) and response != "":
            words = {"thing": self._named(), "facts": self._value(response)}
            return self._line(self._shapes["told"][0], **words)
        if _is_something(response):
            return self.deed()
        return self._line(self._shapes["nothing"], thing=self._named())

    def deed(self) -> str:
        """Return that something was done."""
        thing, done = self._asked.thing, self._done()
        values = [self._fact(self._shapes["fact"], *one) for one in self._values.items()]
        match self._kind if done else "other":
            case "make":
                extra = self._shapes["extra"]
                values = [
                    filled(
                        extra["other" if value[:1].isdigit() else "text"],
                        {"field": field, "value": value},
                    )
                    for field, value in self._values.items()
                ]
                new = with_article(humanise(" ".join(self._words[1:]) or self._words[0]))
                return self._drawn(
                    self._shapes["made"],
                    thing=thing,
                    new=new,
                    done=done,
                    facts=self._listed(values),
                )
            case "change" if thing and self._values:
                return self._line(
                    self._shapes["changed"]["whole"],
                    facts=self._chained(self._shapes["changed"], self._values.items()),
                )
            case "act" | "change" if thing:
                return self._drawn(self._shapes["acted"], thing=thing, done=done)
            case _:
                return self._drawn(
                    self._shapes["other"],
                    topic=self._topic(),
                    thing=thing,
                    facts=self._listed(values),
                )

    def to_do(self) -> str:
        """Return the call as something to do."""
        do, thing, verb = self._shapes["do"], self._asked.thing, self._words[0]
        values = self._listed(
            [self._fact(self._shapes["value"], *one) for one in self._values.items()]
        )
        kind = self._kind if self._kind in do else "other"
        if kind == "change" and thing and self._values:
            return self._chained(do["change"], self._values.items())
        if kind in ("act", "change") and thing:
            return filled(do["act"], {"verb": verb, "thing": thing})
        new = with_article(humanise(" ".join(self._words[1:]) or verb))
        shapes = do["make"] if kind == "make" else do["other"]
        words = {
            "topic": " ".join(self._words),
            "thing": thing,
            "values": values,
            "verb": verb,
            "new": new,
        }
        return filled(self._fitting(shapes, **words)[0], words)

    def _facts_sentence(self, facts: Sequence[tuple[str, str]]) -> str:
        ways = [one for one in self._shapes["told"] if self._asked.thing or one != "{own}."]
        shape = self._rng.choice(ways)
        if shape == "{own}.":
            return self._line(shape, own=self._chained(self._shapes["own"], facts))
        shape_of_fact = self._shapes["fact"]
        said = [self._fact(shape_of_fact, *one) if one[0] else one[1] for one in facts]
        return self._line(shape, thing=self._named(), facts=self._listed(said))

    def _chained(self, shapes: Mapping[str, str], facts: Iterable[tuple[str, str]]) -> str:
        """Return facts of a thing, of which the first names it."""
        said = [self._fact(shapes["next" if at else "first"], *one) for at, one in enumerate(facts)]
        return self._listed(said)

    def _fact(self, shape: str, field: str, value: str) -> str:
        """Return a field and its value in a pattern; "is" or "are" fits the field's number."""
        last = field.rpartition(" ")[2]
        is_many = noun_for("", last) != last and " of " not in field
        forms = self._shapes.get("is", ("", ""))
        words = {"field": field, "value": value, "thing": self._asked.thing, "is": forms[is_many]}
        return filled(shape, words)

    def _list_sentence(self, head: str, inner: Sequence[str]) -> str:
        held = [one for one in values_at(self._asked.response, head) if isinstance(one, list)]
        entries = [one for some in held for one in some if is_available(one)]
        said = list(filter(None, (self._entry(one, inner) for one in entries)))
        noun = noun_for(head, self._asked.tool)
        page = "entries" if said[1:] else "one_entry" if said else "no_entries"
        return self._drawn(
            self._shapes[page],
            thing=self._asked.thing,
            noun=noun,
            nouns=self._many(head, noun),
            entries=self._listed(said),
        )

    def _many(self, head: str, noun: str) -> str:
        """Return what several entries are called: as the response calls them, or in the plural."""
        written = humanise(head.rpartition(".")[2] or self._words[-1])
        is_plural = written.endswith("s") or written.removesuffix("s") == noun
        return written if is_plural or (head and noun == written) else plural(noun)

    def _entry(self, entry: JsonValue, inner: Sequence[str]) -> str:
        """Return an entry of a list: its first field, and the others in brackets."""
        plain = [path for path in inner if "[]" not in path]
        facts = list(self._facts(entry, plain)) if plain != [""] else [("", self._value(entry))]
        nested = [one for path in inner if "[]" in path for one in values_at(entry, path)]
        (name, first), *rest = [*facts, *(("", self._value(one)) for one in nested)] or [("", "")]
        label = "" if not name or not first[:1].isdigit() else f"{name} "
        extras = [
            filled(
                self._shapes["extra"]["other" if name and value[:1].isdigit() else "text"],
                {"field": name, "value": value},
            )
            for name, value in rest
        ]
        words = f"{label}{first}"
        shape = self._shapes["extra"]["shape"]
        return (
            filled(shape, {"entry": words, "extras": self._pack.comma.join(extras)})
            if extras
            else words
        )

    def _facts(self, value: JsonValue, fields: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the plain fields of a thing with their words; amounts have their currency."""
        plain = [path for path in fields if "[]" not in path]
        units = [
            one for path in plain if _last(path) == "currency" for one in values_at(value, path)
        ]
        for path in plain:
            name = _last(path)
            is_amount = bool(_AMOUNTS & set(split_name(name)))
            for one in values_at(value, path) if name != "currency" else ():
                unit = f" {units[0]}" if units and is_amount and not isinstance(one, str) else ""
                yield field_words(path), f"{self._value(one)}{unit}"

    def _value(self, value: JsonValue) -> str:
        if isinstance(value, bool):
            return self._pack.answers[value]
        if isinstance(value, list):
            return self._listed([self._value(one) for one in value])
        if isinstance(value, dict):
            return self._listed(
                [f"{humanise(name)} {self._value(one)}" for name, one in value.items()]
            )
        words = str(value)
        if isinstance(value, str) and len(words.split()) > _MOST_WORDS:
            return f"{self._pack.quotes[0][0]}{words}{self._pack.quotes[0][1]}"
        return words

    def _done(self) -> str:
        irregular = self._shapes.get("participles")
        return "" if irregular is None else participle(self._words[0], irregular)

    def _topic(self) -> str:
        words = self._words
        return humanise(" ".join(words[1:] if words[1:] and words[0] in _VERBS else words))

    def _named(self) -> str:
        return self._asked.thing or self._topic()

    def _listed(self, said: Sequence[str]) -> str:
        return self._pack.listed(said)

    def _line(self, shape: str, **words: str) -> str:
        return as_sentence(shape, words)

    def _drawn(self, shapes: Sequence[str], **words: str) -> str:
        return self._line(self._rng.choice(self._fitting(shapes, **words)), **words)

    @staticmethod
    def _fitting(shapes: Sequence[str], **words: str) -> list[str]:
        """Return the patterns that say all of these words that are not empty, and no others."""
        given = {name for name, one in words.items() if one}
        able = [(len(slots), one) for one in shapes if (slots := {*_SLOT.findall(one)}) <= given]
        most = max(count for count, _ in able)
        return [one for count, one in able if count == most]


def _fields(value: JsonValue, path: str) -> Iterator[str]:
    """Yield the paths of fields worth telling, outer before inner."""
    if isinstance(value, dict):
        inner = [(f"{path}.{key}" if path else key, key, member) for key, member in value.items()]
        readable = [(at, member) for at, key, member in inner if not _OPAQUE & set(split_name(key))]
        yield from (at for at, member in readable if _is_telling(member))
        for at, member in readable:
            if isinstance(member, dict | list):
                yield from _fields(member, at)
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, dict):
                yield from _fields(entry, f"{path}[]")
            elif _is_telling(entry):
                yield f"{path}[]"


def _is_something(value: JsonValue) -> bool:
    """Whether a response holds more than nulls, noes and blanks, and no list without entries."""
    if isinstance(value, dict):
        return [] not in value.values() and any(map(_is_something, value.values()))
    if isinstance(value, list):
        return any(map(_is_something, value))
    return value not in (None, False, "")


def _is_telling(value: JsonValue) -> bool:
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return plain and value != "" and len(str(value)) <= _LONGEST_VALUE


def _last(path: str) -> str:
    return path.rpartition(".")[2] if not path.endswith("[]") else ""
