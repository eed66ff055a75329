"""Whether each snapshot follows from the turns before it, replayed by rules alone (HammerBench 4.2.2 to 4.2.4).

A snapshot is the one before it and what was stated since: an argument that is new or changed is stated in between, one that
was known stays, an answer gives an argument, and each of its sentences accounts for one; so a value that was overridden
is gone, and nothing is known before it is stated. The tool stays the same until the user turns to something else.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.shifts.turns import was_made_already
from callwright.generators.stages import StageContext
from callwright.language.calls.choosing import is_dropped, new_request, rank_by_words
from callwright.language.calls.tools import ToolView
from callwright.language.names import split_name
from callwright.language.packs import LanguagePattern, packs_of
from callwright.language.text import VERBATIM
from callwright.language.thesaurus import weigh_words
from callwright.validators.checks.declaring import ARGUMENTS, rule
from callwright.validators.checks.dialogue_answers import (
    StatedArgument,
    beside,
    declines,
    left_over,
    not_given,
    places_of,
    unused,
)
from callwright.validators.checks.dialogue_owners import AnswerText, asked_for, misplaced
from callwright.validators.checks.evidence import TOO_WEAK, Claim, UserText, find_evidence, find_spoken, stated_in
from callwright.validators.checks.statements import hear, view_tool
from callwright.validators.checks.verdicts import Answer, Finding, answer_of, contradicted, unproved
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    DoubtedFact,
    Evidence,
    GoldCall,
    ReplyTurn,
    Sample,
    Snapshot,
    Tool,
    UserTurn,
    Verdict,
)

_FEWEST_TURNS = 2


class SnapshotStep(NamedTuple):
    """A snapshot, the texts that lead from the one before to it (the latest first), and the calls of that one.

    A step is `free` where calls are carried out on the way: then anything that was stated or returned may be used.
    """

    number: int
    snapshot: Snapshot
    stated: tuple[UserText, ...]
    question: str
    before: tuple[GoldCall, ...]
    is_free: bool

    @property
    def text(self) -> str:
        """The user's own words at this step."""
        return "\n".join(one.text for one in reversed(self.stated) if not one.in_message)

    def pairs(self) -> Iterator[tuple[GoldCall, GoldCall | None]]:
        """Each call that is due with the same call at the snapshot before, None where there was none.

        Where fewer or more were due there, as where one call of a plan is wanted again, it is the one of the same tool.
        """
        same_number = len(self.before) == len(self.snapshot.calls)
        for index, call in enumerate(self.snapshot.calls):
            of_tool = [one for one in self.before if one.tool == call.tool]
            yield call, self.before[index] if same_number else of_tool[0] if len(of_tool) == 1 else None


class _Script(NamedTuple):
    """A sample with its tools by name, and how people speak of them."""

    sample: Sample
    tools: Mapping[str, Tool]
    views: Mapping[str, ToolView]


class _Replayed(NamedTuple):
    """What one step has given: what speaks against it, and where its new arguments are stated."""

    findings: tuple[Finding, ...]
    evidence: tuple[Evidence, ...] = ()


def applies_to(sample: Sample) -> bool:
    """Whether the user speaks several times, and no call was made yet: snapshots grow, calls with results do not."""
    return user_turns(sample) >= _FEWEST_TURNS and not was_made_already(sample)


@rule(
    "dialogue", "1", "Does each snapshot follow from the turns before it?",
    source="HammerBench 4.2.2, 4.2.3",
    applies=applies_to,
    settles=ARGUMENTS,
    left_to="readers",
    doubts={
        "unsure": "It is not sure that “{words}”{where} means {name} = {value}.",
        "lost": "{name} was {value} and is gone after{where}.",
        "used_early": "The calls have {name} = {value} before the user says so (“{words}”{where}).",
        "used_late": "The user says {name} = {value} (“{words}”{where}), but the calls have it only later.",
        "same_words": "{name} and {other} are taken from the same words.",
        "exchanged": "The values of {name} and {other} seem to be exchanged.",
        "asked_lacking": "The assistant asks for {name}, and the last call lacks it.",
        "turn_gives_nothing": "What the user answers{where} changes nothing in the call.",
        "tool_changes": "The calls go from {other} to {tool}, though the user turns to nothing else{where}.",
    },
)  # fmt: skip
def check_dialogue(sample: Sample, context: StageContext) -> Answer:
    """Replay the conversation and prove every snapshot by the turns before it."""
    return _replay(sample, context.toolset(sample.candidates))


def replay(sample: Sample, tools: Sequence[Tool]) -> Verdict:
    """The verdict on `sample`, whose calls are of `tools`."""
    return check_dialogue.verdict(sample, _replay(sample, tools))


def _replay(sample: Sample, tools: Sequence[Tool]) -> Answer:
    script = _Script(sample, {tool.name: tool for tool in tools}, {tool.name: view_tool(tool) for tool in tools})
    steps = steps_of(sample)
    replayed = [_replay_step(step, script) for step in steps]
    findings = [finding for one in replayed for finding in one.findings]
    findings += [*_tool_findings(steps, script), *_unanswered(steps, script)]
    if not steps and not findings:
        findings.append(unproved("There is no snapshot.", DoubtedFact(kind="kind_amiss")))
    proved = sum(not one.findings for one in replayed)
    proof = f"Each of the {len(steps)} snapshots follows from the turns before it."
    return replace(
        answer_of(findings, proof),
        score=proved / len(steps) if steps else 0.0,
        evidence=tuple(dict.fromkeys(evidence for one in replayed for evidence in one.evidence)),
    )


def _replay_step(step: SnapshotStep, script: _Script) -> _Replayed:
    if not step.snapshot.calls:
        return _Replayed(tuple(_idle_findings(step, script)))
    results = [_replay_call(step, call, before, script) for call, before in step.pairs()]
    findings = [finding for one in results for finding in one.findings]
    gives = any(one.evidence for one in results) or _leaves_open(step, script)
    if step.before and not step.is_free and not gives and not findings:
        findings.append(
            unproved(
                f"Turn {step.snapshot.turn} has the calls of the snapshot before: the answer gives nothing.",
                DoubtedFact(kind="turn_gives_nothing", turn=step.snapshot.turn),
            )
        )
    return _Replayed(tuple(findings), tuple(evidence for one in results for evidence in one.evidence))


def _leaves_open(step: SnapshotStep, script: _Script) -> bool:
    """Whether the user says that any value will do; "I don't know how" in another request does not."""
    views = [script.views[call.tool] for call in step.before if call.tool in script.views]
    return declines(step.text) and not any(has_turned(view, step.text, step.question) for view in views)


def _replay_call(step: SnapshotStep, call: GoldCall, before: GoldCall | None, script: _Script) -> _Replayed:
    tool = script.tools.get(call.tool)
    if tool is None:
        unknown = DoubtedFact(kind="tool_unknown", tool=call.tool)
        return _Replayed((contradicted(f"The tool {call.tool!r} is not among the candidates.", unknown),))
    findings = list(_form_findings(step, call, before, tool))
    if findings:
        return _Replayed(tuple(findings))
    arguments, known = given(call), given(before)
    fresh = [name for name, value in arguments.items() if name not in known or known[name] != value]
    stated = stated_in(step.snapshot.prefix) if step.is_free else step.stated
    spoken: list[Evidence] = []
    for name in fresh:
        claim = _claim(call, name, tool, known)
        evidence = find_evidence(claim, stated, step.snapshot.prefix if step.is_free else ())
        if evidence is None or evidence.rule in TOO_WEAK:
            findings.append(_unstated(claim, known.get(name), evidence, step, script))
        else:
            spoken.append(evidence)
    if not findings and not step.is_free:
        findings += _answer_findings(step, call, before, spoken, script.views[call.tool])
    return _Replayed(tuple(findings), tuple(spoken))


def _form_findings(step: SnapshotStep, call: GoldCall, before: GoldCall | None, tool: Tool) -> Iterator[Finding]:
    """What is wrong without a look at the words: a parameter that is not declared, another tool, a lost argument."""
    where = f"at turn {step.snapshot.turn}"
    for name in call.arguments:
        if name not in tool.properties:
            fact = DoubtedFact(kind="call_unfit", turn=step.snapshot.turn, tool=call.tool, argument=name)
            yield contradicted(f"The tool {call.tool!r} declares no parameter {name!r} ({where}).", fact)
    if before is None or step.is_free:
        return
    if before.tool != call.tool:
        reason = f"The tool was {before.tool!r} and is {call.tool!r} {where}; nobody turned to something else."
        yield unproved(
            reason, DoubtedFact(kind="tool_changes", turn=step.snapshot.turn, tool=call.tool, other=before.tool)
        )
        return
    for name, value in given(before).items():
        if name not in given(call):
            fact = DoubtedFact(kind="lost", turn=step.snapshot.turn, argument=name, value=value)
            yield contradicted(f"{name!r} was {value!r} and is lost {where}.", fact)


def _claim(call: GoldCall, name: str, tool: Tool, known: Mapping[str, object]) -> Claim:
    """What has to be stated now for the argument: of a list that grew only its new members."""
    value, old = call.arguments[name], known.get(name)
    if isinstance(value, list) and isinstance(old, list) and all(one in value for one in old) and len(old) < len(value):
        value = [one for one in value if one not in old]
    hint = next((one for one in call.evidence if one.argument == name), None)
    return Claim(name, value, {"title": name, **tool.properties[name]}, hint, call)


def _unstated(claim: Claim, old: JsonValue, weak: Evidence | None, step: SnapshotStep, script: _Script) -> Finding:
    what = f"{claim.name!r} = {claim.value!r} at turn {step.snapshot.turn}"
    fact = DoubtedFact(kind="unstated", turn=step.snapshot.turn, argument=claim.name, value=claim.value)
    if weak is not None:
        unsure = fact.with_changes(kind="unsure", quote=weak.quote)
        return unproved(f"{what} is not sure: {weak.quote!r} is a {weak.rule}.", unsure)
    earlier = find_spoken(claim, [one for one in stated_in(step.snapshot.prefix) if one not in step.stated])
    if earlier is not None and old is not None and _is_stated_nowhere(claim._replace(value=old), script.sample):
        reason = (
            f"{claim.name!r} was {old!r}, which nobody says, and becomes {claim.value!r} at turn {step.snapshot.turn}"
        )
        late = fact.with_changes(kind="used_late", quote=earlier.quote)
        return contradicted(f"{reason}, which was said at turn {earlier.turn}.", late)
    if earlier is not None:
        late = fact.with_changes(kind="used_late", quote=earlier.quote)
        reason = f"{what} was said at turn {earlier.turn}, and the snapshot after that does not have it."
        return unproved(reason, late)
    later = find_spoken(claim, texts_after(script.sample, step.snapshot.turn))
    if later is not None and later.rule == VERBATIM and len(later.quote) > 1:
        early = fact.with_changes(kind="used_early", quote=later.quote, turn=None)
        return contradicted(f"{what} is said only at turn {later.turn}.", early)
    return unproved(f"Nothing was said for {what}.", fact)


def _is_stated_nowhere(claim: Claim, sample: Sample) -> bool:
    return find_spoken(claim, stated_in(sample.turns)) is None


def _answer_findings(
    step: SnapshotStep, call: GoldCall, before: GoldCall | None, spoken: Sequence[Evidence], view: ToolView
) -> Iterator[Finding]:
    """Whether the words of the turn and the arguments that it gives account for each other."""
    arguments, known = given(call), given(before)
    unknown = [one for one in view.parameters if one.name not in arguments]
    placed = {stated: places_of(view, arguments, known, spoken, stated) for stated in step.stated}
    for stated, places in placed.items():
        own, pointed = _of_turn(placed, stated.turn)
        pointing = beside(own.text, placed[own]) if stated.in_message else own.text
        answer = AnswerText(stated, pointing, step.question, tuple(places))
        after = stated.turn + 1
        for found in misplaced(answer, view, unknown):
            yield found._replace(reason=f"At turn {stated.turn} {found.reason}")
        if not stated.in_message:
            owned = not_given(stated.text, places, view, unknown)
            left = dict.fromkeys(unused(stated.text, places, unknown), "is said, and the call has no argument of it")
            left |= dict.fromkeys(owned, "is said for a parameter that the call lacks")
            rest = left_over(stated.text, places, view, pointed, is_first=before is None)
            for words, what in (*left.items(), *((one, "gives no argument") for one in rest)):
                fact = DoubtedFact(kind="words_left", turn=after, quote=words)
                yield unproved(f"At turn {stated.turn} {words!r} {what}.", fact)


def _of_turn(placed: Mapping[UserText, list[StatedArgument]], turn: int) -> tuple[UserText, list[StatedArgument]]:
    """What the user says himself in a turn, and the places in the message that comes with it."""
    own = next(stated for stated in placed if stated.turn == turn and not stated.in_message)
    return own, [
        place for stated, places in placed.items() if stated.turn == turn and stated.in_message for place in places
    ]


def _tool_findings(steps: Sequence[SnapshotStep], script: _Script) -> list[Finding]:
    """Whether request and questions are about the tool that is called first."""
    first = next((step for step in steps if step.snapshot.calls), None)
    if first is None or first.is_free or len(first.snapshot.calls) > 1:
        return []
    tool = first.snapshot.calls[0].tool
    replies = [turn.text for turn in script.sample.turns if isinstance(turn, ReplyTurn)]
    if steps and not steps[-1].snapshot.calls:
        replies = replies[:-1]  # the refusal
    named = {name for step in steps for call in step.snapshot.calls for name in given(call)}
    stated = [first.text, *replies]
    better = better_tool(tuple(script.views.values()), tool, named, stated) if tool in script.views else ""
    fact = DoubtedFact(kind="fits_better", tool=better, other=tool)
    return [unproved(f"Request and questions speak of {better!r} rather than of {tool!r}.", fact)] if better else []


def _unanswered(steps: Sequence[SnapshotStep], script: _Script) -> Iterator[Finding]:
    """Parameters that were asked for and that the last call still lacks, though the user has gone on answering."""
    last = steps[-1] if steps else None
    if last is None or len(last.snapshot.calls) != 1 or last.is_free or last.snapshot.calls[0].tool not in script.views:
        return
    call = last.snapshot.calls[0]
    view = script.views[call.tool]
    for step in steps[1:]:
        for name in asked_for(step.question, view.parameters):
            if name not in given(call) and not declines(step.text):
                reason = f"{name!r} was asked for before turn {step.snapshot.turn}, and the last call lacks it."
                yield unproved(reason, DoubtedFact(kind="asked_lacking", turn=step.snapshot.turn, argument=name))


def _idle_findings(step: SnapshotStep, script: _Script) -> Iterator[Finding]:
    """Whether the user has really turned to something else where no call is due any more."""
    for call in step.before:
        view = script.views.get(call.tool)
        if view is not None and not has_turned(view, step.text, step.question):
            fact = DoubtedFact(kind="calls_needlessly", turn=step.snapshot.turn, tool=call.tool)
            yield unproved(f"Turn {step.snapshot.turn} has no call, but what was said still suits {call.tool!r}.", fact)


NOTHING: tuple[JsonValue, ...] = (None, "", [], {})


def steps_of(sample: Sample) -> list[SnapshotStep]:
    """The steps of a conversation, one a snapshot."""
    steps: list[SnapshotStep] = []
    before: tuple[GoldCall, ...] = ()
    turn_before, is_free = -1, False
    for number, snapshot in enumerate(sample.snapshots()):
        stated = tuple(one for one in stated_in(snapshot.prefix) if one.turn > turn_before)
        turn = sample.turns[snapshot.turn]
        is_free = is_free or (isinstance(turn, CallTurn) and turn.executed)
        steps.append(SnapshotStep(number, snapshot, stated, _question(snapshot, turn_before), before, is_free))
        turn_before, before = snapshot.turn, snapshot.calls
    return steps


def given(call: GoldCall | None) -> Arguments:
    """The arguments of a call that have a value; labels of published data hold empty ones."""
    return {} if call is None else {name: value for name, value in call.arguments.items() if value not in NOTHING}


def texts_after(sample: Sample, turn: int) -> list[UserText]:
    """What the user says only after the turn `turn`."""
    return [one for one in stated_in(sample.turns) if one.turn > turn]


def _question(snapshot: Snapshot, after: int) -> str:
    """What the assistant said between the snapshot before and the user's last turn."""
    return "\n".join(turn.text for turn in snapshot.prefix[after + 1 :] if isinstance(turn, ReplyTurn))


def user_turns(sample: Sample) -> int:
    """How often the user speaks."""
    return sum(isinstance(turn, UserTurn) for turn in sample.turns)


_FITS = 0.8  # of the best candidate's score
_FITS_ONE = 0.5
_LIKE = 0.4
_KNOWN = 0.3
_WORD = re.compile(r"[A-Za-z]+")
_OPENER = LanguagePattern(r"\s*(?:(?:@{greeting})(?:@[\s,.!:\-]+|$))+")
_ASKING = LanguagePattern("@{asks_something}")


_ONE_STATED = LanguagePattern("@{that_one}")
_ONE_DESCRIBED = LanguagePattern("@{a_certain}")


def better_tool(views: Sequence[ToolView], tool: str, arguments: Collection[str], stated: Sequence[str]) -> str:
    """The candidate that request and questions speak of rather than `tool`, "" where it fits as well as any.

    Only a tool that takes all of these arguments could have been meant.
    """
    other = _done_by_another(views, tool, arguments, stated[0])
    if other:
        return other
    possible = [view for view in views if view.name == tool or set(arguments) <= set(view.properties)]
    ranked = rank_by_words(possible, "\n".join(stated))
    own = next((score for score, view in ranked if view.name == tool), 0.0)
    best, view = ranked[0]
    if (
        view.name == tool
    ):  # the one described as about a single thing may be meant where another is stated in the very words
        singled = (one.name for score, one in ranked[1:] if score >= _FITS_ONE * own)
        return next((name for name in singled if _is_of_one(views, name, tool, stated[0])), "")
    return "" if own >= (_FITS_ONE if _is_of_one(views, tool, view.name, stated[0]) else _FITS) * best else view.name


def _done_by_another(views: Sequence[ToolView], tool: str, arguments: Collection[str], request: str) -> str:
    """The tool whose name begins with what the request begins with, where nothing of this one's means that: "unmute"."""
    first = next(
        (word for word in _WORD.findall(_OPENER.of(request).sub("", request).lower()) if _is_verb(word, request)), ""
    )
    own = next(view for view in views if view.name == tool)
    if not first or weigh_words(first).keys() & own.words.keys():
        return ""
    others = [one for one in views if set(arguments) <= set(one.properties)]
    return next((one.name for one in others if split_name(one.name.split(".")[-1])[0] == first), "")


def _is_verb(word: str, request: str) -> bool:
    return any(pack.rules.is_verb(word) for pack in packs_of(request))


def _is_of_one(views: Sequence[ToolView], tool: str, other: str, request: str) -> bool:
    """Whether the user speaks of a single one, which only the first of two tools is described as about."""
    described = {view.name: view.description for view in views}
    speaks_of_one = {name: _ONE_DESCRIBED.of(text).search(text) for name, text in described.items()}
    is_value_stated = bool(speaks_of_one[tool]) and not speaks_of_one[other]
    return is_value_stated and _ONE_STATED.of(request).search(request) is not None


def likeness(view: ToolView, text: str, question: str) -> float:
    """How much of what a text says the tool, or the question that was asked for it, speaks of."""
    stated = weigh_words(text)
    known = {**weigh_words(question), **view.words}
    total = sum(stated.values())
    return sum(weight for word, weight in stated.items() if known.get(word, 0.0) > _KNOWN) / total if total else 0.0


def has_turned(view: ToolView, text: str, question: str) -> bool:
    """Whether the user asks for something that is unlike the tool under way and what it asks."""
    wanted = new_request(text) or _OPENER.of(text).sub("", text).strip()
    is_dropping = is_dropped(text) or _OPENER.of(text).match(text) is not None
    shared = set(weigh_words(wanted)) & set(weigh_words(question)) & set(view.words)
    answers = any(one.outright for one in hear(view, text).statements)
    if not is_dropping and (answers or any(len(word) > 1 for word in shared)):
        return False
    return (is_dropping or is_request(wanted)) and likeness(view, wanted, question) < _LIKE


def is_request(text: str) -> bool:
    """Whether somebody asks for something to be done, rather than answers."""
    plain = _OPENER.of(text).sub("", text).strip()
    first = next(iter(_WORD.findall(plain)), "").lower()
    return _ASKING.of(plain).match(plain) is not None or _is_verb(first, plain)
