"""Which calls the user's turns of a simulated conversation ask for, read by the language's own shapes, and nothing else read in.

Each turn is cut at the deeds that it names; each stretch is read for its arguments, an answer with the question before it, a
correction with the call that it changes. What is read must be the calls that were made, in order, and every word must belong
to a deed, an argument, a lead or a courtesy that fits where the conversation stands. Where a value was overridden, or a request
put in the place of an answer, the language's words for that are known too, in the turn alone where the change may stand.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.kinds import traits_of
from callwright.generators.transcripts import walk
from callwright.language.booleans import read_boolean
from callwright.language.calls.actions import field_phrase
from callwright.language.calls.frames import glue_of, left_over, shapes_in
from callwright.language.calls.parsing import read_answers, read_named, read_request
from callwright.language.calls.parsing import read_conversation as read_turns
from callwright.language.calls.questions import asked_parameters
from callwright.language.calls.tools import ToolView
from callwright.language.calls.turns import Turn as SpokenTurn
from callwright.language.packs import widened
from callwright.language.sentences import sentence_at
from callwright.language.values import locate, read_value
from callwright.language.vocabulary import find_corrections
from callwright.validators.checks.complexity import CallWithResult, Round, read_conversation
from callwright.validators.checks.statements import view_tool
from callwright.validators.checks.verdicts import Finding, unproved
from callwright.validators.wishes.accounts import (
    REQUEST,
    Deed,
    TurnAccount,
    deeds_in,
    misbound,
    places_of,
    without,
    words_left,
)
from callwright.warehouse.records import Arguments, DoubtedFact, GoldCall, Language, Sample, Tool

_ANSWER = (
    "dialogues.bare", "dialogues.bare_by_kind", "dialogues.bare_count", "dialogues.sentences",
    "dialogues.sentences_by_kind", "dialogues.yes", "dialogues.no", "requests.stop",
)  # fmt: skip
_QUESTIONS = (
    "dialogues.questions", "dialogues.named", "dialogues.unnamed", "dialogues.counted", "dialogues.options",
    "dialogues.flags", "dialogues.last_option", "dialogues.last_question",
)  # fmt: skip
_SENTENCES = re.compile(widened(r"(?<=[.!?])\s+|(?<=@[{.!?}])"))


class OpenRequest(NamedTuple):
    """A request that waits for the user: what was said of it, and whether it waits for a yes alone."""

    view: ToolView
    turns: tuple[SpokenTurn, ...]
    known: Arguments
    is_proposed: bool = False


class _SoFar(NamedTuple):
    """What the user may go on from: a request that waits, the tools that were offered, the last call, and all results."""

    open: OpenRequest | None = None
    offered: tuple[str, ...] = ()
    last: CallWithResult | None = None
    results: tuple[JsonValue, ...] = ()


class _Served(NamedTuple):
    """The calls upon one deed, the results before them, and where the turn asks for the same again."""

    calls: Sequence[CallWithResult]
    results: Sequence[JsonValue]
    again: Sequence[tuple[int, int]]


def find_in_conversation(sample: Sample, tools: Sequence[Tool], withheld: Sequence[Tool]) -> list[Finding]:
    """What speaks against the calls of a conversation being those that its words ask for; nothing where they are."""
    conversation = read_conversation(sample, tools, withheld)
    reader = _Reader(sample, [view_tool(tool) for tool in tools], [view_tool(tool) for tool in withheld])
    so_far = _SoFar()
    for one in conversation.rounds:
        is_last = one is conversation.rounds[-1]
        so_far = (
            reader.read_overridden(one, so_far)
            if is_last and reader.traits.shift == "same_turn"
            else reader.read(one, so_far)
        )
    if so_far.open is not None:
        name = so_far.open.view.name
        reader.doubt(f"{name!r} is asked for, and never called.", DoubtedFact(kind="asked_not_made", tool=name))
    return reader.findings


class _Reader:
    """The turns of the user's one after another."""

    def __init__(self, sample: Sample, views: Sequence[ToolView], withheld: Sequence[ToolView]) -> None:
        self._language, self._views = sample.language, {view.name: view for view in (*views, *withheld)}
        self._withheld = {view.name for view in withheld}
        self.traits = traits_of(sample.kind)
        self.findings: list[Finding] = []

    def doubt(self, reason: str, fact: DoubtedFact) -> None:
        """Note something that no rule can account for."""
        self.findings.append(unproved(reason, fact))

    def read(self, one: Round, so_far: _SoFar) -> _SoFar:
        """Read a turn against the calls made upon it; how far the conversation is then."""
        deeds = deeds_in(one.text, tuple(self._views.values()), {made.call.tool for made in one.made})
        known = [made for made in one.made if made.call.tool in self._views]
        after = self._requested(one, deeds, so_far) if deeds else self._continued(one, so_far)
        last = known[-1] if known else so_far.last
        results = (*so_far.results, *(made.result for made in one.made))
        return after._replace(last=last, results=results)

    def read_overridden(self, one: Round, so_far: _SoFar) -> _SoFar:
        """Read a turn whose end takes a value back: what stands before it asks for the call with the value taken back."""
        ends: list[tuple[list[Finding], _SoFar]] = []
        before = self.findings
        for earlier in self._before_overriding(one):
            self.findings = []
            after = self.read(earlier, so_far)
            ends.append((self.findings, after))
            if not self.findings:
                break
        self.findings = before
        if not ends:
            return self.read(one, so_far)
        findings, after = min(ends, key=lambda end: len(end[0]))
        self.findings += findings
        return after

    def _before_overriding(self, one: Round) -> Iterator[Round]:
        """The turn without the words that take a value back, and its call with a value that the rest of the words may say."""
        call = one.made[-1].call if one.made else None
        view = self._views.get(call.tool) if call else None
        if call is None or view is None:
            return
        for head, name, old in self._taken_back(one.text, view, call.arguments):
            made = one.made[-1]._replace(call=call.with_changes(arguments={**call.arguments, name: old}))
            yield one._replace(text=head.rstrip(), made=(*one.made[:-1], made))

    def _taken_back(self, text: str, view: ToolView, arguments: Arguments) -> Iterator[tuple[str, str, JsonValue]]:
        """The words before those that give an argument its value instead of another one, its name, and that other value."""
        for mark in reversed(find_corrections(text)):
            start = sentence_at(text, mark.end)[0]
            head, tail = text[:start], text[start:]
            for name, new in arguments.items():
                for old in _values_in(head, name, view, self._language):
                    if old != new and self._overrides(tail, view, name, (old, new)):
                        yield head, name, old

    def _allow_overriding(self, text: str, view: ToolView, stated: Arguments, account: TurnAccount) -> None:
        """Account for the words that take a value back before the call is due."""
        if self.traits.shift != "same_turn":
            return
        for _, name, old in self._taken_back(text, view, stated):
            account.allow("corrections.SO_case1")
            account.cover_values(view, {name: old}, 0, len(text))
            return

    def _overrides(self, tail: str, view: ToolView, name: str, values: tuple[JsonValue, JsonValue]) -> bool:
        """Whether words say nothing but that a parameter has the second value, and not the first."""
        account = TurnAccount(tail, self._language)
        account.allow("corrections.SO_case1")
        account.know(view)
        is_stated = account.cover_values(view, {name: values[1]}, 0, len(tail))
        account.cover_values(view, {name: values[0]}, 0, len(tail))
        return (
            is_stated and not account.left_over() and not list(misbound(view, {name: values[1]}, tail, self._language))
        )

    def _requested(self, one: Round, deeds: Sequence[Deed], so_far: _SoFar) -> _SoFar:
        """A turn that names deeds: each is served by calls of its tool, refused, or asked about."""
        account = TurnAccount(one.text, self._language)
        account.allow(*REQUEST, "conversations.joints", "conversations.again")
        if so_far.open is not None:
            account.allow("conversations.switches")
        if so_far.results or len(deeds) > 1:
            account.allow("conversations.more", "conversations.linked")
        if self.traits.shift == "last" and not self.traits.has_correction and not one.made:
            account.allow("assistant.openers")
        waiting = list(one.made)
        waits: OpenRequest | None = None
        refused: set[str] = set()
        results = list(so_far.results)
        account.join_lists()
        for deed in deeds:
            account.know(deed.view)
            account.take_asides()
            words = account.without_asides(deed.start, deed.end)
            again = account.sentences("conversations.again", deed.start, deed.end)
            stated = read_request(deed.view, without(words, [one.text[start:end] for start, end in again]))
            served = _take(waiting, deed.view.name)
            if served:
                self._served(deed, stated, _Served(served, results, again), account)
                results += [made.result for made in served]
            elif waits is None and one.reply is not None and one.seeks:
                account.cover_values(deed.view, stated, deed.start, deed.end)
                self._allow_overriding(one.text, deed.view, stated, account)
                waits = self._asked(one, deed.view, (SpokenTurn("user", words),), stated)
            elif self._is_refused(one, deed.view) and deed.view.name not in refused:
                refused.add(deed.view.name)
                account.cover_values(deed.view, stated, deed.start, deed.end)
            else:
                fact = DoubtedFact(kind="asked_not_made", turn=one.turn + 1, tool=deed.view.name)
                self.doubt(f"At turn {one.turn} {deed.view.name!r} is asked for, and not called.", fact)
        self._close(one, waiting, account)
        return _SoFar(open=waits)

    def _served(
        self,
        deed: Deed,
        stated: Arguments,
        served: _Served,
        account: TurnAccount,
    ) -> None:
        """Calls upon one deed: the first has what is stated, and what an earlier result gives; others another value each."""
        first = served.calls[0].call
        words = account.without_asides(deed.start, deed.end)
        linked = {name: value for name, value in first.arguments.items() if name not in stated}
        for name, value in linked.items():
            if not self._is_referred_to(words) or not any(_is_only_at(name, value, one) for one in served.results[-1:]):
                fact = DoubtedFact(kind="unstated", tool=first.tool, argument=name, value=value)
                self.doubt(f"No words say {name!r} = {value!r} of {first.tool}.", fact)
        if any(first.arguments.get(name) != value for name, value in stated.items()):
            reason = f"{first.tool} is asked for with {stated!r}, and called with {first.arguments!r}."
            self.doubt(reason, DoubtedFact(kind="asked_otherwise", tool=first.tool))
        self.findings += misbound(deed.view, first.arguments, words, self._language)
        account.cover_values(deed.view, stated, deed.start, deed.end)
        self._served_again(deed, served, account)

    def _is_refused(self, one: Round, view: ToolView) -> bool:
        """Whether the reply refuses what this tool does, by its name or as something that no tool does."""
        if one.reply is None:
            return False
        is_plain = one.reply.text in shapes_in(self._language, "assistant.refusals")
        if is_plain and view.name in self._withheld:
            return self.traits.is_changed
        is_named = any(action.lower() in one.reply.text.lower() for action in (*view.actions, *view.keys))
        return "reject" in one.reply.acts and is_named

    def _is_referred_to(self, words: str) -> bool:
        """Whether a stretch speaks of what was found before: "with the number that you find"."""
        lower = words.lower()
        glue = glue_of(self._language, "conversations.linked", "conversations.more")
        return any(piece.lower() in lower for piece in glue)

    def _served_again(self, deed: Deed, served: _Served, account: TurnAccount) -> None:
        """Further calls upon one deed: each with another value for one argument, in the order in which those are said."""
        first, at = served.calls[0].call, -1
        for made in served.calls[1:]:
            given = made.call.arguments
            value = {name: one for name, one in given.items() if one != first.arguments.get(name)}
            stretches = [one for one in served.again if account.cover_values(deed.view, value, *one)]
            if len(value) != 1 or given.keys() != first.arguments.keys() or not stretches:
                fact = DoubtedFact(kind="unasked", tool=made.call.tool)
                self.doubt(f"Nobody asks for the call of {made.call.tool} with {given!r}.", fact)
                continue
            before, at = at, max(account.place_of(deed.view, value, stretch) for stretch in stretches)
            if at < before:
                fact = DoubtedFact(kind="order_amiss", tool=made.call.tool)
                self.doubt(f"{made.call.tool} is called with {value!r} too late: it is asked for earlier.", fact)

    def _asked(
        self, one: Round, view: ToolView, turns: tuple[SpokenTurn, ...], stated: Arguments
    ) -> OpenRequest | None:
        """The request as it waits after a question, which must ask for what is missing, or read all back for a yes."""
        question = one.reply.text if one.reply else ""
        if self._is_proposal(question, view, stated):
            return OpenRequest(view, turns, stated, is_proposed=True)
        asked = asked_parameters(view, question, stated)
        amiss = DoubtedFact(kind="question_amiss", turn=one.turn + 1, tool=view.name)
        account = TurnAccount(question, self._language)
        account.allow(*_QUESTIONS)
        account.know(view)
        if not asked or any(parameter.name in stated for parameter in asked):
            self.doubt(f"After turn {one.turn} the question asks for nothing that {view.name} lacks.", amiss)
        elif any(name not in stated and name not in {one.name for one in asked} for name in view.required):
            self.doubt(f"After turn {one.turn} the question leaves out what {view.name} lacks.", amiss)
        for words in account.left_over():
            fact = amiss.with_changes(kind="reply_unfounded", quote=words)
            self.doubt(f"After turn {one.turn} the question says {words!r}.", fact)
        return OpenRequest(view, (*turns, SpokenTurn("assistant", question)), stated)

    def _is_proposal(self, question: str, view: ToolView, stated: Arguments) -> bool:
        account = TurnAccount(question, self._language)
        account.allow("conversations.proposals")
        account.know(view)
        is_whole = all(name in stated for name in view.required)
        return is_whole and account.cover_values(view, stated, 0, len(question)) and not account.left_over()

    def _continued(self, one: Round, so_far: _SoFar) -> _SoFar:
        """A turn that names no deed: an answer, a yes, another value, a description, or a courtesy."""
        account = TurnAccount(one.text, self._language)
        waiting = list(one.made)
        account.take_asides()
        if so_far.open is not None:
            after = self._answered(one, so_far.open, waiting, account)
        elif waiting and so_far.last is not None and self._changes_last(one, waiting[0].call, so_far.last, account):
            waiting.pop(0)
            after = _SoFar()
        elif waiting:
            self._described(one, waiting.pop(0).call, account)
            after = _SoFar()
        else:
            after = self._without_calls(one, so_far, account)
        self._close(one, waiting, account)
        return after

    def _answered(
        self, one: Round, request: OpenRequest, waiting: list[CallWithResult], account: TurnAccount
    ) -> _SoFar:
        view = request.view
        account.know(view)
        turns = (*request.turns, SpokenTurn("user", account.without_asides(0, len(one.text))))
        if request.is_proposed:
            account.allow("conversations.approvals")
            stated = request.known
        else:
            account.allow(*_ANSWER)
            stated = read_turns(view, turns)
            changed = {name: value for name, value in stated.items() if request.known.get(name) != value}
            account.cover_values(view, changed, 0, len(one.text))
            self._allow_overriding(one.text, view, changed if not waiting else {}, account)
            overridden = {name: request.known[name] for name in changed if name in request.known}
            if self.traits.shift == "own_turn" and not waiting and len(overridden) == 1:
                account.allow("corrections.SO_case2")
                account.cover_values(view, overridden, 0, len(one.text))
        if not waiting:
            is_asked = one.reply is not None and one.seeks
            if not is_asked:
                fact = DoubtedFact(kind="asked_not_made", turn=one.turn + 1, tool=view.name)
                self.doubt(f"At turn {one.turn} {view.name!r} has an answer, and is not called.", fact)
                return _SoFar()
            return _SoFar(open=self._asked(one, view, turns, stated))
        call = waiting.pop(0).call
        if (call.tool, call.arguments) != (view.name, stated):
            reason = f"{view.name} is asked for with {stated!r}; {call.tool} is called with {call.arguments!r}."
            self.doubt(reason, DoubtedFact(kind="asked_otherwise", tool=view.name))
        return _SoFar()

    def _changes_last(self, one: Round, call: GoldCall, last: CallWithResult, account: TurnAccount) -> bool:
        """Whether a turn gives the last call another value: corrected, or tried again after an error."""
        if call.tool != last.call.tool or call.arguments.keys() != last.call.arguments.keys():
            return False
        view = self._views[call.tool]
        words = account.without_asides(0, len(one.text))
        readings = [read(view, words) for read in (read_named, read_request)]
        changed = next((one for one in readings if {**last.call.arguments, **one} == call.arguments), {})
        if len(changed) != 1:
            return False
        account.know(view)
        account.allow("conversations.retries" if last.failed else "conversations.corrections")
        account.cover_values(view, changed, 0, len(one.text))
        if self.traits.shift == "last" and self.traits.has_correction and not last.failed:
            account.allow("corrections.mSv")
            account.cover_values(view, {name: last.call.arguments[name] for name in changed}, 0, len(one.text))
        return True

    def _described(self, one: Round, call: GoldCall, account: TurnAccount) -> None:
        """A situation that tells all that a tool needs without asking for it."""
        view = self._views.get(call.tool)
        if view is None:
            return
        account.know(view)
        account.allow("conversations.situations", "conversations.plights", "conversations.facts", "conversations.flags")
        if field_phrase(view.name, self._language).lower() not in one.text.lower():
            fact = DoubtedFact(kind="other_deed", turn=one.turn + 1, tool=call.tool)
            self.doubt(f"Turn {one.turn} does not say what it is about.", fact)
        described = dict(
            _described_values(_SENTENCES.split(account.without_asides(0, len(one.text))), view, self._language)
        )
        for name, words in described.items():
            if name not in call.arguments or not _says_just(call.arguments[name], name, view, words):
                held = call.arguments.get(name)
                fact = DoubtedFact(kind="gives_other", turn=one.turn + 1, argument=name, value=held, other=words)
                self.doubt(f"Turn {one.turn} tells {words!r} for {name!r}; {call.tool} has {held!r}.", fact)
        for name in call.arguments.keys() - described.keys():
            fact = DoubtedFact(kind="unstated", tool=call.tool, argument=name, value=call.arguments[name])
            self.doubt(f"Turn {one.turn} does not tell {name!r} of {call.tool}.", fact)
        account.cover_values(view, call.arguments, 0, len(one.text))
        rivals = [
            other.name
            for other in self._views.values()
            if other.name != view.name
            and field_phrase(other.name, self._language) == field_phrase(view.name, self._language)
            and set(described) <= set(other.properties)
            and set(other.required) <= set(described)
        ]
        if rivals:
            fact = DoubtedFact(kind="fits_better", turn=one.turn + 1, tool=rivals[0], other=call.tool)
            self.doubt(f"What turn {one.turn} describes may be for {rivals[0]} as well as for {call.tool}.", fact)

    def _without_calls(self, one: Round, so_far: _SoFar, account: TurnAccount) -> _SoFar:
        account.allow("conversations.thanks", "parallel.ends")
        if so_far.last is not None and so_far.last.failed:
            account.allow("conversations.surrenders")
        if one.seeks and one.reply is not None:
            account.allow("conversations.hints")
            offered = [view for view in self._views.values() if any(key in one.reply.text.lower() for key in view.keys)]
            question = TurnAccount(one.reply.text, self._language)
            question.allow("conversations.which")
            for view in offered:
                account.know(view)
                question.know(view)
            if len(offered) < 2 or question.left_over():  # noqa: PLR2004 - a choice is between two at least
                fact = DoubtedFact(kind="no_choice", turn=one.turn + 1)
                self.doubt(f"After turn {one.turn} the question offers no choice.", fact)
            return _SoFar(offered=tuple(view.name for view in offered))
        return _SoFar()

    def _close(self, one: Round, waiting: Sequence[CallWithResult], account: TurnAccount) -> None:
        for made in waiting:
            fact = DoubtedFact(kind="unasked", turn=one.turn + 1, tool=made.call.tool)
            self.doubt(f"At turn {one.turn} nobody asks for the call of {made.call.tool}.", fact)
        self.findings += [words_left(words, one.turn) for words in account.left_over()]


def _described_values(sentences: Sequence[str], view: ToolView, language: Language) -> Iterator[tuple[str, str]]:
    """What sentences of a description say of a tool's parameters: the parameter, and the words of its value."""
    shapes = [shape for part in ("facts", "flags") for shape in shapes_in(language, f"conversations.{part}")]
    for sentence in sentences:
        for parameter in view.parameters:
            cue = re.escape(parameter.cues.among(language))
            for shape in shapes:
                pattern = re.escape(shape).replace(r"\{v\}", "(.+)").replace(r"\{c\}", cue).replace(r"\{C\}", cue)
                match = re.fullmatch(pattern, sentence.strip(), re.IGNORECASE)
                if match:
                    yield parameter.name, match[1].strip()


def _values_in(text: str, name: str, view: ToolView, language: Language) -> list[JsonValue]:
    """What a text may say for a parameter, as a request, an answer or a description."""
    parameter = next(one for one in view.parameters if one.name == name)
    readings: list[Arguments] = [
        read_request(view, text), read_named(view, text), read_answers(view, (parameter,), text),
        read_answers(view, view.parameters, text),
    ]  # fmt: skip
    found = [one[name] for one in readings if name in one]
    described = dict(_described_values(_SENTENCES.split(text), view, language))
    if name in described:
        value = read_value(described[name].strip('"“”'), {"title": name, **view.properties.get(name, {})})
        found.append(value)
    return [one for at, one in enumerate(found) if one is not None and one not in found[:at]]


def _says_just(value: JsonValue, name: str, view: ToolView, words: str) -> bool:
    """Whether the words say the value, and nothing beside it."""
    schema = {"title": name, **view.properties.get(name, {})}
    if isinstance(value, bool):
        return read_boolean(words, {}) is value
    return not left_over(words, [], list(places_of(value, schema, words))) and locate(value, schema, words) is not None


def _take(waiting: list[CallWithResult], name: str) -> list[CallWithResult]:
    """The calls of a tool that come next."""
    served = []
    while waiting and waiting[0].call.tool == name:
        served.append(waiting.pop(0))
    return served


def _is_only_at(name: str, value: JsonValue, result: JsonValue) -> bool:
    """Whether a result holds this value under this name, and no other one there."""
    held = {repr(one) for path, one in walk(result, "") if path.rpartition(".")[2] == name}
    return held == {repr(value)}
