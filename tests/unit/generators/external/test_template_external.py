"""External samples that the template model words: proved by every check, of our own tools and of
HammerBench's records.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

import pytest

from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.generators.external.entities import find_entities, obstacle
from callwright.generators.external.making import rewrite_requests
from callwright.generators.external.messages import write_messages
from callwright.generators.families import Order
from callwright.generators.imports.papers import read_hammerbench
from callwright.generators.kinds import all_kinds
from callwright.generators.single_turn.making import (
    choose_parameters,
    draft_requests,
    plan_assignments,
    write_requests,
)
from callwright.generators.stages import StageContext
from callwright.llm.chat import Answer, ChatRequest, Completion, Prompt
from callwright.llm.template.model import TemplateModel
from callwright.validators.checks.format import check_format
from callwright.validators.checks.grounding import check_grounding
from callwright.warehouse.records import Language, Sample, Tool
from tests.support.generators.external.fixtures import derivation

SEED_TOOLS = {tool.key: tool for tool in seed_tools()}


class ExternalTemplateChat:
    """The template model without a ledger."""

    name = "template/v1"

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        asked = ChatRequest(
            self.name, prompt.messages, answer.model_json_schema(), (), (), sample_index
        )
        return answer.model_validate_json((await TemplateModel().send(asked)).text)

    async def complete(
        self, prompt: Prompt, tools: object = (), *, sample_index: int = 0
    ) -> Completion:
        raise AssertionError("No stage here asks for free text.")


def context_of(tools: Mapping[str, Tool], seed: int) -> StageContext:
    return StageContext(chat=ExternalTemplateChat(), rng=Random(seed), tools=tools)


async def external(source: Sample, context: StageContext) -> Sample:
    (reference,) = await find_entities(derivation(source), context)
    (message,) = await write_messages(reference, context)
    (sample,) = await rewrite_requests(message, context)
    return sample


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_is_made_of_a_perfect_request_is_well_formed_and_all_said(
    language: Language,
) -> None:
    made = said = 0
    asked = Order(all_kinds()["perfect"], language, "", 25, list(SEED_TOOLS.values()), seed=23)
    for at, assignment in enumerate(plan_assignments(asked)):
        context = context_of(SEED_TOOLS, at)
        (choice,) = await choose_parameters(assignment, context)
        (draft,) = await draft_requests(choice, context)
        (source,) = await write_requests(draft, context)
        if obstacle(source, SEED_TOOLS):
            continue
        sample = await external(source, context)
        (verdict,) = await check_format(sample, context)
        assert verdict.decision == "proved", (verdict.reason, sample.turns)
        (grounds,) = await check_grounding(sample, context)
        assert grounds.decision != "contradicted", (grounds.reason, sample.turns)
        made += 1
        said += grounds.decision == "proved"
    assert made > 15
    assert said >= 0.9 * made  # not every way to write a time of day is read: "seven forty-five am"


def records(
    shared: Path, language: Language, file: str
) -> Iterator[tuple[Sample, dict[str, Tool]]]:
    path = (
        shared
        / "data"
        / "hammerbench"
        / "sample100"
        / language
        / "multi-turn"
        / f"HammerBench_{file}.json"
    )
    for record in read_hammerbench(path):
        if record.sample is not None:
            yield record.sample, {tool.key: tool for tool in record.tools}
