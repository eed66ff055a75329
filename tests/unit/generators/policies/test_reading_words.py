"""Refusals and questions under policies are read in each language: its own, and none that are not."""

import pytest

from callwright.generators.policies.reading import refuses
from callwright.language.packs import known
from callwright.language.pages import filled, shapes_in
from callwright.warehouse.records import Call, Policy

SAYS = {
    "en": (
        "Cancel a delivery only while it is planned.",
        "Only parcels of up to 15 kilograms may go by express.",
        "Create no delivery of a parcel that was returned.",
    ),
    "es": (
        "Cancela una entrega solo mientras está planeada.",
        "Solo los paquetes de hasta 15 kilos pueden ir por vía urgente.",
        "No crees ninguna entrega de un paquete devuelto.",
    ),
    "zh": (
        "只有在计划中的配送才可以取消。",
        "只有15公斤以内的包裹可以走快递。",
        "不要为已退回的包裹创建配送。",
    ),
}
CALL = Call(tool="cancel_delivery", arguments={"delivery_id": "x7"})
NAMES = ("cancel", "express", "returned")


def policies_in(language: str) -> list[Policy]:
    return [
        Policy(name=name, tools=("any",), only_if="given.x", says=says)
        for name, says in zip(NAMES, SAYS[language], strict=True)
    ]


@pytest.mark.parametrize("language", known())
@pytest.mark.parametrize("name", NAMES)
def test_the_languages_own_refusals_give_their_policy_and_no_other(
    language: str, name: str
) -> None:
    policies = policies_in(language)
    own = next(one for one in policies if one.name == name)
    for place in ("refusal", "again"):
        for shape in shapes_in(language, f"policies.{place}"):
            text = filled(shape, {"policy": own.says})
            assert refuses(text, CALL, policies, {name}), text
            assert not refuses(text, CALL, policies, {*NAMES} - {name}), text
            listed = filled(shape, {"policy": " ".join(one.says for one in policies)})
            assert not refuses(listed, CALL, policies, {name}), listed
            assert refuses(listed, CALL, policies, {*NAMES}), "all of them forbid something"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("I'm sorry, that can't be done any more: it isn't planned.", True),
        ("I'm sorry, I can't cancel this delivery.", False),
        ("It isn't possible to cancel that delivery, as it is no longer planned.", True),
        ("The delivery is cancelled, as planned.", False),
        ("I can't do that.", False),
        ("I can't send a parcel of 20 kilograms by express.", False),
        ("", False),
    ],
)
def test_a_reason_counts_in_words_of_ones_own(text: str, is_one: bool) -> None:
    assert refuses(text, CALL, policies_in("en"), {"cancel"}) is is_one
