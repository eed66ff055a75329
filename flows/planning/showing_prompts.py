"""The prompts of a build, whole, as they would be sent: of a dry run, so that nothing is asked."""

from functools import partial
from typing import NamedTuple

import orjson

from callwright.flows.catalogs import aside
from callwright.flows.planning.estimating import run_dry
from callwright.flows.recipe import Recipe
from callwright.flows.settings import Settings
from callwright.llm.asking import Asking
from callwright.llm.stand_in import open_stand_in


class ShownPrompt(NamedTuple):
    """A prompt with what it was first rendered with: `stage` asked it, `schema` is that of the answer, {} for free text."""

    stage: str
    name: str
    messages: list[dict[str, str]]
    answer: dict[str, object]

    @property
    def markdown(self) -> str:
        """A section of a page."""
        parts = [f"## {self.name}", f"Asked by the stage `{self.stage}`."]
        parts += [f"**{message['role']}**\n\n{_fenced(message['content'])}" for message in self.messages]
        if self.answer:
            parts.append(f"**answer**\n\n{_fenced(orjson.dumps(self.answer).decode(), 'json')}")
        return "\n\n".join(parts)


def _fenced(text: str, language: str = "text") -> str:
    return f"```{language}\n{text}\n```"


async def show_prompts(recipe: Recipe, settings: Settings) -> list[ShownPrompt]:
    """Each prompt that a build of the recipe asks, by its name, rendered for the first record that comes to it.

    Raises as `estimate_build` does.
    """
    found: dict[str, ShownPrompt] = {}

    def overhear(asking: Asking) -> None:
        if asking.prompt.name not in found:
            messages = [one.model_dump(include={"role", "content"}) for one in asking.prompt.messages]
            found[asking.prompt.name] = ShownPrompt(asking.stage, asking.prompt.name, messages, dict(asking.schema))

    with aside(recipe, settings) as elsewhere:
        await run_dry(recipe, elsewhere, partial(open_stand_in, overhear=overhear))
    return [found[name] for name in sorted(found)]


def prompts_page(shown: list[ShownPrompt], recipe: str) -> str:
    """docs/prompts.md."""
    head = (
        "# Prompts\n\n"
        f"Each prompt that a build asks, whole, rendered for a first record of `{recipe}` in place of your tools. "
        "`callwright recipe prompts RECIPE` shows those of a recipe of yours; a recipe may bring its own texts (docs/recipes.md).\n"
    )
    return "\n".join([head, "\n\n".join(one.markdown for one in shown), ""])
