"""Where a record comes from that a model made of another one."""

from callwright.generators.stages import StageContext
from callwright.llm.prompts import prompt_version
from callwright.warehouse.records import Origin, Record


def asked_origin(stage: str, parent: Record, seed: int, context: StageContext, prompt: tuple[str, str]) -> Origin:
    """The origin of what a model answered to a `prompt`, a package of prompts and the name of one in it."""
    version = prompt_version(*prompt)
    return Origin(stage=stage, parents=(parent.key,), seed=seed, model=context.chat.name, prompt_version=version)
