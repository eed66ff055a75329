"""The review screens: for each review kind, what Label Studio is told to show."""

from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from annotation.words import words_in
from warehouse.errors import ConfigurationError
from warehouse.records import Language, Record

SAMPLE_REVIEW = "sample_review"
REVIEW_KINDS = (SAMPLE_REVIEW,)


class Screen(Record):
    """What a Label Studio project of one review kind needs: its title, labeling config and instruction."""

    kind: str
    title: str
    config: str
    instruction: str


def screen_for(kind: str, language: Language = "en") -> Screen:
    """The screen of a review kind in an interface language; answers mean the same in every language."""
    if kind not in REVIEW_KINDS:
        raise ConfigurationError(f"There is no review kind {kind!r}; the kinds are {', '.join(REVIEW_KINDS)}.")
    words = words_in(language)
    source = files("annotation.configs").joinpath(f"{kind}.xml").read_text(encoding="utf-8")
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(source)
    return Screen(
        kind=kind,
        title=f"callwright: {words.title}",
        config=template.render(words=words),
        instruction=words.instruction,
    )
