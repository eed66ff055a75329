"""How external information takes the place of a value (HammerBench 4.2.4)."""

from callwright.generators.external import entities
from callwright.generators.external.entities import find_entities
from callwright.generators.external.messages import write_messages
from callwright.generators.external.rewriting import rewrite_requests
from callwright.generators.planning import Making
from callwright.generators.stages import Step, in_a_row

MAKING = Making(
    "external",
    stages=in_a_row(
        "external", "Derivation",
        Step("entities", "Find the arguments that people would rather point to, and choose one and an app.",
             "EntityReference", "HammerBench 4.2.4", find_entities, ("find_entities",)),
        Step("messages", "Word the phrase that points to the value, and the message that holds it.",
             "ExternalMessage", "HammerBench 4.2.4, D.6", write_messages, ("word_pronoun", "write_message")),
        Step("rewriting", "Reword what the user says, with the phrase in the place of the value.",
             "Sample", "HammerBench 4.2.4, D.6", rewrite_requests, ("rewrite_request",)),
    ),
    has_fixed_words=True,
    obstacles={"external": entities.obstacle},
)  # fmt: skip
