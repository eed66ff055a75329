"""Choosing the tool that a conversation asks for: by its action in words, else by the words that speak for it."""

import re
from collections import Counter
from collections.abc import Sequence
from math import log

from llm.template.commands import command_in, is_another, share_known
from llm.template.names import is_chinese
from llm.template.sections import Turn
from llm.template.telling_words import weigh_words
from llm.template.turning import is_dropped, new_request
from llm.template.understanding import read_request
from llm.template.views import ToolView

_LEAST_SCORE = 2.3
_LEAST_KNOWN, _LEAST_KNOWN_OF_ANOTHER = 0.65, 0.85
_FEW = 3
_LONGEST_TEXT = 4000
_MOST_TURNS = 100
_LENGTH_WEIGHT = 0.1
_BEHIND_ACTION = re.compile(
    r"(?=\s*(?:[^\w\s]|$))|(?=\s(?:for me|on|at|from|for|with|without|the|please|and|by|to|in|my|around|as|a|an|using|\d))"
    r"|(?=\s*(?:吗|一下|好吗|吧|呢|从|要|不要|带|不带|，))",
    re.IGNORECASE,
)


def choose_tool(views: Sequence[ToolView], turns: Sequence[Turn]) -> ToolView | None:
    """The tool that the user asks for, None where none fits well enough; the last action that is asked for counts."""
    said = [turn.text[:_LONGEST_TEXT] for turn in turns if turn.speaker == "user"][-_MOST_TURNS:]
    return _latest(views, said)


def _latest(views: Sequence[ToolView], said: Sequence[str]) -> ToolView | None:
    for index in range(len(said) - 1, -1, -1):
        text = said[index]
        named = _named(views, text)
        if named:
            return _best_by_arguments(named, text)
        anew = new_request(text) if index else ""
        if anew and (is_dropped(text) or not _goes_on(_latest(views, said[:index]), anew)):
            return _likeliest(views, anew, least=_LEAST_KNOWN_OF_ANOTHER)
    return _likeliest(views, "\n".join(said))


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
    return _BEHIND_ACTION.match(lower, at + len(key)) is not None or (
        not is_chinese(key) and _new_clause(lower, at + len(key))
    )


def _new_clause(lower: str, at: int) -> bool:
    return lower[at : at + 2] == ", "


def _best_by_arguments(views: list[ToolView], text: str) -> ToolView:
    """Of tools with the same action, the one whose parameters the text fills best."""
    if len(views) == 1:
        return views[0]
    said = weigh_words(text)

    def fit(view: ToolView) -> tuple[float, float]:
        stated = read_request(view, text)
        missing = sum(name not in stated for name in view.required)
        return len(stated) - 0.5 * missing, sum(weight for word, weight in view.words.items() if word in said)

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
    said = weigh_words(text)
    spread = Counter(word for view in views for word in view.words if word in said)
    rarity = {word: 1.0 + log(len(views) / count) for word, count in spread.items()}
    scored = []
    for view in views:
        own = view.words
        score = sum(min(own[word], said[word]) * rare for word, rare in rarity.items() if word in own)
        scored.append((score / (1.0 + _LENGTH_WEIGHT * log(1 + len(own))), view))
    return sorted(scored, key=lambda pair: -pair[0])
