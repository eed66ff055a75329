"""Asking a model until its answer fits, and telling who made what came of it."""

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from generators.stage_context import StageContext
from llm.chat import Prompt
from llm.prompts import prompt_version
from warehouse.errors import ReplyError
from warehouse.records import Origin

PROMPTS = "generators.prompts"
ATTEMPTS = 3
Answer = TypeVar("Answer", bound=BaseModel)


async def first_fit(
    context: StageContext, prompt: Prompt, answer: type[Answer], problem_of: Callable[[Answer], str], complaint: str
) -> Answer:
    """The first of three answers that `problem_of` finds no problem with.

    Raises ReplyError where none is: `complaint`, and the problem of the last one.
    """
    problem = ""
    for attempt in range(ATTEMPTS):
        given = await context.chat.ask(prompt, answer, sample_index=attempt)
        problem = problem_of(given)
        if not problem:
            return given
    raise ReplyError(f"{complaint}: {problem}")


def made_by(context: StageContext, stage: str, template: str, *, parent: str, seed: int) -> Origin:
    """The origin of a record that the context's model worded by a template, at a stage, of the record `parent`."""
    return Origin(
        stage=stage,
        parents=(parent,),
        seed=seed,
        model=context.chat.name,
        prompt_version=prompt_version(PROMPTS, template),
    )
