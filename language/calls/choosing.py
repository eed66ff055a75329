"""Choosing the tool that a conversation asks for: by the command in its words, else by the words that speak for it."""

import re
from collections import Counter
from collections.abc import Sequence
from math import log

from callwright.language.calls.parsing import read_request
from callwright.language.calls.tools import ToolView
from callwright.language.calls.turns import Turn
from callwright.language.packs import COMMON_SCRIPT, LanguagePattern, packs_of, script_of, unspaced, widened
from callwright.language.thesaurus import (
    is_empty,
    run_key,
    stem_groups,
    stem_key,
    unspaced_groups,
    unspaced_words,
    weigh_words,
)
from callwright.language.vocabulary import deep_stem

_LEAST_SCORE = 2.3
_LEAST_KNOWN, _LEAST_KNOWN_OF_ANOTHER = 0.65, 0.85
_FEW = 3
_LONGEST_TEXT = 4000
_MOST_TURNS = 100
_LENGTH_WEIGHT = 0.1
_BEHIND_ACTION = LanguagePattern(r"(?=\s*(?:[^\w\s]|$))|@{behind_action}")


def choose_tool(views: Sequence[ToolView], turns: Sequence[Turn]) -> ToolView | None:
    """The tool that the user asks for, None where none fits well enough; the last action that is asked for counts."""
    spoken = [turn.text[:_LONGEST_TEXT] for turn in turns if turn.speaker == "user"][-_MOST_TURNS:]
    return _latest(views, spoken)


def _latest(views: Sequence[ToolView], spoken: Sequence[str]) -> ToolView | None:
    for index in range(len(spoken) - 1, -1, -1):
        text = spoken[index]
        named = _named(views, text)
        if named:
            return _best_by_arguments(named, text)
        anew = new_request(text) if index else ""
        if anew and (is_dropped(text) or not _goes_on(_latest(views, spoken[:index]), anew)):
            return _likeliest(views, anew, least=_LEAST_KNOWN_OF_ANOTHER)
    return _likeliest(views, "\n".join(spoken))


def _goes_on(view: ToolView | None, text: str) -> bool:
    """Whether a command is about the tool that was talked of: it speaks of a parameter, or does the same."""
    command = command_in(text)
    if view is None or share_known(view, command) >= _LEAST_KNOWN:
        return view is not None
    called = view.cues.pattern.finditer(command) if view.cues else ()
    return any(view.cues is not None and view.cues.owner(match.group())[1] for match in called)


def _named(views: Sequence[ToolView], text: str) -> list[ToolView]:
    """The tools whose action stands in the text word for word, the longest such action only."""
    lower = text.lower()
    hits = [(length, view) for view in views if (length := _action_length(view, lower))]
    longest = max((length for length, _ in hits), default=0)
    return [view for length, view in hits if length == longest]


def _action_length(view: ToolView, lower: str) -> int:
    longest = 0
    for key in view.keys:
        at = lower.find(key) if len(key) > longest else -1
        if at >= 0 and _stands_alone(key, lower, at):
            longest = len(key)
    return longest


def _stands_alone(key: str, lower: str, at: int) -> bool:
    """Whether the action ends there: "book a flight" is not asked for in "book a flight upgrade"."""
    before = lower[at - 1 : at]
    if before.isascii() and before.isalnum():
        return False
    return _BEHIND_ACTION.of(lower).match(lower, at + len(key)) is not None or (
        script_of(key) == COMMON_SCRIPT and _new_clause(lower, at + len(key))
    )


def _new_clause(lower: str, at: int) -> bool:
    return lower[at : at + 2] == ", "


def _best_by_arguments(views: list[ToolView], text: str) -> ToolView:
    """Of tools with the same action, the one whose parameters the text fills best."""
    if len(views) == 1:
        return views[0]
    spoken = weigh_words(text)

    def fit(view: ToolView) -> tuple[float, float]:
        stated = read_request(view, text)
        missing = sum(name not in stated for name in view.required)
        return len(stated) - 0.5 * missing, sum(weight for word, weight in view.words.items() if word in spoken)

    return max(views, key=fit)


def _likeliest(views: Sequence[ToolView], text: str, *, least: float = _LEAST_KNOWN) -> ToolView | None:
    """The tool for which the most telling words speak; a word that many tools share tells little."""
    ranked = rank_by_words(views, text)
    if not ranked:
        return None
    command = command_in(text)
    score, view = ranked[0]
    if command:
        known, view = max(((share_known(one, command), one) for _, one in ranked[:_FEW]), key=lambda pair: pair[0])
        least = _LEAST_KNOWN_OF_ANOTHER if is_another(view, command) else least
        return view if known >= least else None
    return view if score >= _LEAST_SCORE else None


def rank_by_words(views: Sequence[ToolView], text: str) -> list[tuple[float, ToolView]]:
    """The tools with a score for the words that speak for them, the best first."""
    spoken = weigh_words(text)
    spread = Counter(word for view in views for word in view.words if word in spoken)
    rarity = {word: 1.0 + log(len(views) / count) for word, count in spread.items()}
    scored = []
    for view in views:
        own = view.words
        score = sum(min(own[word], spoken[word]) * rare for word, rare in rarity.items() if word in own)
        scored.append((score / (1.0 + _LENGTH_WEIGHT * log(1 + len(own))), view))
    return sorted(scored, key=lambda pair: -pair[0])


_MOST_WORDS = 14
_FEWEST_CHARACTERS, _BARE_CHARACTERS, _MOST_CHARACTERS = 2, 8, 16
_LOOKING = 0  # the group of words for looking something up; they tell little
_FAINT = 0.3
_KNOWN = 0.3
_KNOWN_GROUP = 0.15
_FRAME = LanguagePattern("^@{request_frame}")
_GLUED_FRAME = LanguagePattern("@{glued_frame}", re.RegexFlag(0))
_CLAUSE = re.compile(widened(r"[.?!;,:](?:\s|$)|@[{.?!;,:}\n]"))
_DETAIL = LanguagePattern("@{detail}", re.RegexFlag(0))
_GLUED_VERB = LanguagePattern("@{glued_verb}", re.RegexFlag(0))
_GLUED_TAIL = LanguagePattern("@{glued_tail}", re.RegexFlag(0))
_GLUED_DETAIL = LanguagePattern("@{glued_detail}", re.RegexFlag(0))
_WORD = re.compile(rf"[^\W\d_{unspaced()}]+")
_ABBREVIATION = re.compile(r"[A-Z]\w*[A-Z]")  # SIM and VoLTE are what is asked for; Berlin is a value
_RUN = re.compile(f"[{unspaced()}]+")


def command_in(text: str) -> str:
    """The command that a request opens with, "" where it is not put that briefly."""
    bare = _FRAME.of(text).sub("", _GLUED_FRAME.of(text).sub("", text.strip().lstrip("¿¡")))
    clause = _CLAUSE.split(bare, maxsplit=1)[0]
    if script_of(clause) != COMMON_SCRIPT:
        return _glued_command(clause)
    command = _DETAIL.of(text).split(clause, maxsplit=1)[0]
    words = command.split()
    if not 1 < len(words) <= _MOST_WORDS or not packs_of(text)[0].rules.is_verb(words[0].lower()):
        return ""
    has_detail = any(word[0].isupper() and not _ABBREVIATION.search(word) for word in words[1:]) or any(
        character.isdigit() for character in command
    )
    return "" if has_detail else command


def _glued_command(clause: str) -> str:
    """The command in a clause whose words stand without spaces."""
    command = _GLUED_TAIL.of(clause).sub("", clause)
    is_brief = _FEWEST_CHARACTERS <= len(command) <= _MOST_CHARACTERS and not _GLUED_DETAIL.of(clause).search(command)
    is_command = len(command) <= _BARE_CHARACTERS or _GLUED_VERB.of(clause).match(command)
    return command if is_brief and is_command else ""


def share_known(view: ToolView, command: str) -> float:
    """How much of a command the tool speaks of, 0 where it does something else with it."""
    if script_of(command) != COMMON_SCRIPT:
        return _share_of_characters(view, command) if _knows_verb(view, command) else 0.0
    return _share_of_words(view, command) if _same_verb(view, command) else 0.0


def is_another(view: ToolView, command: str) -> bool:
    """Whether each names a thing that the other does not: to cancel a pet policy is not to cancel a house policy."""
    if script_of(command) != COMMON_SCRIPT:
        return False
    action = view.actions[0]
    return bool(_things(command) - _things(f"{action} {view.description}")) and bool(_things(action) - _things(command))


def _things(text: str) -> set[str]:
    """What a text is about: words of one meaning are one, and words for looking something up are none."""
    groups = stem_groups()
    roots = [deep_stem(word) for word in _WORD.findall(text.lower()) if not is_empty(word, text)]
    return {str(groups.get(root, root)) for root in roots if groups.get(root) != _LOOKING}


def _share_of_words(view: ToolView, command: str) -> float:
    groups, total, known = stem_groups(), 0.0, 0.0
    for word in _WORD.findall(command.lower()):
        if is_empty(word, command):
            continue
        root = deep_stem(word)
        group = groups.get(root)
        weight = _FAINT if group == _LOOKING else 1.0
        total += weight
        least = _KNOWN_GROUP if group == _LOOKING else _KNOWN
        if view.words.get(root, 0.0) >= _KNOWN or view.words.get(stem_key(group), 0.0) >= least:
            known += weight
    return known / total if total else 0.0


def _same_verb(view: ToolView, command: str) -> bool:
    groups = stem_groups()
    verb = command.split(maxsplit=1)[0].lower()
    group = groups.get(deep_stem(verb))
    for action in view.actions:
        own = action.split()[0].lower()
        if own == verb or (group is not None and groups.get(deep_stem(own)) == group):
            return True
    return False


def _knows_verb(view: ToolView, command: str) -> bool:
    """Whether the tool speaks of the verb that a Chinese command begins with, where the thesaurus knows it."""
    verb = unspaced_words().match(command)
    return verb is None or run_key(unspaced_groups()[verb.group()]) in view.words


def _share_of_characters(view: ToolView, command: str) -> float:
    groups, total, known = unspaced_groups(), 0.0, 0.0
    for run in _RUN.findall(command):
        weights, is_known = [1.0] * len(run), [False] * len(run)
        for match in unspaced_words().finditer(run):
            group = groups[match.group()]
            for at in range(*match.span()):
                weights[at] = _FAINT if group == _LOOKING else weights[at]
                is_known[at] = is_known[at] or view.words.get(run_key(group), 0.0) > _KNOWN_GROUP
        for at in range(len(run) - 1):
            if run[at : at + 2] in view.words:
                is_known[at] = is_known[at + 1] = True
        total += sum(weights)
        known += sum(weight for weight, knows in zip(weights, is_known, strict=True) if knows)
    return known / total if total else 0.0


_DROPS = LanguagePattern("@{drops}")
_ASKS = LanguagePattern("@{asks}")
_AGAIN = LanguagePattern("@{again}")


def new_request(text: str) -> str:
    """The words in which a user who was asked something asks for something else; "" where the talk goes on."""
    dropped = _DROPS.of(text).search(text)
    if dropped and text[dropped.end() :].strip():
        return text[dropped.end() :].strip()
    stripped = text.strip()
    command = command_in(stripped) if _ASKS.of(stripped).match(stripped) else ""
    return stripped if command and not _AGAIN.of(text).search(command) else ""


def is_dropped(text: str) -> bool:
    """Whether the user says outright that what was talked of is dropped."""
    return _DROPS.of(text).search(text) is not None
