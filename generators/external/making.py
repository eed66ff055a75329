"""How external information takes the place of a value (HammerBench 4.2.4)."""

from generators.external import entities
from generators.external.entities import find_entities
from generators.external.messages import write_messages
from generators.external.rewriting import rewrite_requests
from generators.planning import Making
from generators.stages import Stage

MAKING = Making(
    "external",
    stages=(
        Stage(
            "entities", "external", "Find the arguments that people would rather point to, and choose one and an app.",
            "Derivation", "EntityReference", "HammerBench 4.2.4",
            find_entities, "generator", ("generators/external/prompts/find_entities.j2",),
        ),
        Stage(
            "messages", "external", "Word the phrase that points to the value, and the message that holds it.",
            "EntityReference", "ExternalMessage", "HammerBench 4.2.4, D.6",
            write_messages, "generator",
            ("generators/external/prompts/word_pronoun.j2", "generators/external/prompts/write_message.j2"),
        ),
        Stage(
            "rewriting", "external", "Reword what the user says, with the phrase in the place of the value.",
            "ExternalMessage", "Sample", "HammerBench 4.2.4, D.6",
            rewrite_requests, "generator", ("generators/external/prompts/rewrite_request.j2",),
        ),
    ),
    obstacles={"external": entities.obstacle},
)  # fmt: skip
