"""External information: an argument that the user only points at, and the message that holds it (HammerBench 4.2.4).

The kinds with external information (HammerBench 4.2.4; counts of its Table 3).
"""

from callwright.generators.families import Family, Kind, Traits

GROUP = "external"
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
    anywhere=(("external", GROUP),),
)  # fmt: skip
