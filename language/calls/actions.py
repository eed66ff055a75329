"""What a tool does, as a person asks for it: a phrase from its description, else from its name."""

from functools import lru_cache

from language.en.actions import action_of_name  # names in code are English, whatever the language
from language.packs import language_of, of


@lru_cache(8192)
def action_phrase(name: str, description: str) -> str:
    """What to ask of the tool, in the language of its description: "retrieve the tracking status of a shipment"."""
    return of(language_of(description)).rules.action_of(name, description) or action_of_name(name)


@lru_cache(8192)
def action_phrases(name: str, description: str) -> tuple[str, ...]:
    """All the ways in which the action is stated: as described, and with another verb for it."""
    phrase = action_phrase(name, description)
    return (phrase, *of(language_of(phrase)).rules.other_actions(phrase))


@lru_cache(8192)
def name_phrase(name: str) -> str:
    """The tool's name as words, in the imperative where it begins with a verb."""
    return action_of_name(name)
