"""One row for each table: requests in capitals, an export of them, tools out of a list of words,
a town, an echo, a metric.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from callwright.generators.catalogs.catalog import Catalog, CatalogFormat
from callwright.generators.environments.protocol import CallResponse, Secret, World, WorldSettings
from callwright.generators.families import Family, Kind, Traits
from callwright.generators.stages import StageContext, Step, in_a_row
from callwright.llm.chat import ChatRequest, RawReply
from callwright.llm.models import ModelSettings, Provider
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.verdicts import Finding
from callwright.validators.metrics.table import Metric
from callwright.warehouse.exports.writing import Format, ReleaseSplit, Write
from callwright.warehouse.records import (
    Call,
    Derivation,
    Link,
    Origin,
    Prediction,
    Sample,
    Tool,
    UserTurn,
)


async def greet(derivation: Derivation, _context: StageContext) -> list[Sample]:
    asked, *others = derivation.source.turns
    said = (
        asked.with_changes(text=f"{asked.text} Great, thank you!")
        if isinstance(asked, UserTurn)
        else asked
    )
    origin = Origin(stage="greeting", parents=(derivation.key,), seed=derivation.seed)
    return [derivation.source.with_changes(kind="town", turns=(said, *others), origin=origin)]


def obstacle(_sample: Sample, _tools: Mapping[str, Tool]) -> str:
    return ""


TRAITS = Traits(is_whole=True, is_changed=True)
FAMILY = Family(
    "town",
    kinds=(
        Kind(
            "town",
            "a request with greetings",
            "town",
            TRAITS,
            transform="town",
            sources=("perfect",),
        ),
    ),
    stages=in_a_row("town", "Derivation", Step("greeting", "Greet.", "Sample", "", greet)),
    obstacles={"town": obstacle},
)


def begin(part: ReleaseSplit) -> Write:
    def write(sample: Sample) -> int:
        part.add_line("town.jsonl", {"kind": sample.kind, "request": sample.request})
        return 1

    return write


EXPORT = Format(name="town", holds="kinds and requests", readers="the town", begin=begin)


def read(path: Path) -> Catalog:
    schema = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
    names = path.read_text(encoding="utf-8").split()
    tools = tuple(
        Tool(name=name, description=f"Does {name}.", parameters=schema, category="Town")
        for name in names
    )
    return Catalog(tools=tools, entries=len(tools), distinct=len(tools), files=(path,))


CATALOG = CatalogFormat("town", read)


class TownSettings(WorldSettings):
    environment: Literal["town"]


class Town:
    tools: tuple[Tool, ...] = ()
    links: tuple[Link, ...] = ()
    name = "town"

    async def answer(self, call: Call) -> CallResponse:
        return CallResponse(call.tool)


def open_town(_settings: TownSettings, _store: Path, _secret: Secret) -> Town:
    return Town()


WORLD = World("town", TownSettings, open_town)


class Echo:
    async def send(self, request: ChatRequest) -> RawReply:
        return RawReply(request.messages[-1].content)

    async def close(self) -> None:
        pass


def open_echo(_settings: ModelSettings) -> Echo:
    return Echo()


PROVIDER = Provider("town", open_echo)


def score(_sample: Sample, prediction: Prediction) -> float:
    return 1 / (1 + len(prediction.text))


METRIC = Metric("brevity", "How short an answer is.", score)


@rule("town", "1", "Is the town of the sample's mind?", proof="It is.")
def check_town(_sample: Sample, _context: StageContext) -> list[Finding]:
    return []
