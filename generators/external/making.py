"""How external information takes the place of a value (HammerBench 4.2.4)."""

from callwright.generators.external import GROUP, entities
from callwright.generators.external.entities import find_entities
from callwright.generators.external.messages import write_messages
from callwright.generators.external.rewriting import rewrite_requests
from callwright.generators.families import Family, Kind, Traits
from callwright.generators.stages import Step, in_a_row

_REQUEST = Traits("HammerBench", is_changed=True, shift="message")
_DIALOGUE = Traits("HammerBench", is_long=True, is_changed=True, shift="message")

FAMILY = Family(
    "external",
    (
        Kind(
            "external", "a request that points to a message instead of saying a value", GROUP, _REQUEST,
            "external", ("perfect", "imperfect"), 1175, 1175, uses=2,
        ),
        Kind(
            "sQsA_external", "an answer points to a message instead of saying a value", GROUP, _DIALOGUE,
            "external", ("sQsA",), 487, 487, uses=2,
        ),
    ),
    stages=in_a_row(
        "external", "Derivation",
        Step("entities", "Find the arguments that people would rather point to, and choose one and an app.",
             "EntityReference", "HammerBench 4.2.4", find_entities, ("find_entities",)),
        Step("messages", "Word the phrase that points to the value, and the message that holds it.",
             "ExternalMessage", "HammerBench 4.2.4, D.6", write_messages, ("word_pronoun", "write_message")),
        Step("rewriting", "Reword what the user says, with the phrase in the place of the value.",
             "Sample", "HammerBench 4.2.4, D.6", rewrite_requests, ("rewrite_request",),
             voiced=("rewrite_request",)),
    ),
    has_fixed_words=True,
    obstacles={"external": entities.obstacle},
    anywhere=(("external", GROUP),),
)  # fmt: skip
