"""A personal value is the same other one in words and in the call, in whatever notation each has
it: what was found in the words is found there afterwards.
"""

import json
from typing import Any

import pytest

from callwright.generators.taken import CALL, CONVERSATION
from callwright.generators.taken.personal_data import (
    Replaced,
    without_personal_data,
    without_personal_notes,
)
from callwright.validators.evidence import find_in_sample
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import CallTurn, GoldCall, ResultTurn, Sample, Tool, UserTurn

SPELLED: tuple[tuple[str, str, dict[str, Any], tuple[str, ...]], ...] = (
    (
        "en",
        "Send 200 euros to DE89 3704 0044 0532 0130 00.",
        {"iban": "DE89370400440532013000"},
        ("3704",),
    ),
    ("en", "It is GB82 WEST 1234 5698 7654 32.", {"account": "GB82WEST12345698765432"}, ("1234",)),
    (
        "fr",
        "Sur FR14 2004 1010 0505 0001 3M02 606.",
        {"iban": "FR1420041010050500013M02606"},
        ("2004",),
    ),
    ("en", "pay nl91abna0417164300 please", {"iban": "NL91 ABNA 0417 1643 00"}, ("0417",)),
    ("de", "Rufen Sie mich unter 0171 2345678 an.", {"phone": "+491712345678"}, ("2345678",)),
    ("en", "My mobile is 07911 123456.", {"phone_number": "+447911123456"}, ("123456",)),
    ("fr", "Mon numéro est le 06 12 34 56 78.", {"telephone": "+33612345678"}, ("56 78",)),
    ("ru", "Мой телефон 8 (916) 123-45-67.", {"phone": "+79161234567"}, ("123-45",)),
    ("ar", "رقم جوالي ٠٥٠١٢٣٤٥٦٧", {"phone": "0501234567"}, ("٤٥٦٧",)),
    ("hi", "मेरा नंबर 98765 43210 है।", {"phone": "+919876543210"}, ("43210",)),
    (
        "en",
        "Ship it to 12 Rose Street, Leeds LS1 4AB please.",
        {
            "to": {
                "street": "Rose Street",
                "house_number": "12",
                "city": "Leeds",
                "postal_code": "LS14AB",
            }
        },
        ("Rose", "4AB"),
    ),
    (
        "de",
        "Bitte an die Goethestraße 17, 60313 Frankfurt liefern.",
        {"street": "Goethestraße", "house_number": "17", "postal_code": "60313"},
        ("Goethe",),
    ),
    ("es", "Envíalo a la calle Mayor 15, Madrid.", {"address": "Calle Mayor, 15"}, ("Mayor",)),
    (
        "ru",
        "Доставьте на ул. Ленина, д. 25, кв. 14.",
        {"street": "ул. Ленина", "house": "25", "apartment": "14"},
        ("Ленина",),
    ),
    (
        "zh",
        "送到北京市海淀区中关村大街27号。",
        {"address": "北京市海淀区中关村大街27号"},
        ("中关村",),
    ),
    ("en", "Charge 4111 1111 1111 1111.", {"card_number": "4111111111111111"}, ("1111 1111 1111",)),
    ("en", "My SSN is 536-22-8743.", {"ssn": "536228743"}, ("536-22",)),
    ("es", "Mi DNI es 12345678Z.", {"dni": "12345678-Z"}, ("12345678",)),
    ("zh", "我的身份证号是11010519491231002X。", {"id_number": "11010519491231002X"}, ("1949",)),
    ("en", "Write to Anna.Schmidt@Web.de.", {"email": "anna.schmidt@web.de"}, ("Schmidt",)),
    (
        "en",
        "Put it under Schmidt, Anna.",
        {"first_name": "Anna", "last_name": "Schmidt"},
        ("Schmidt",),
    ),
    ("en", "it is for anna schmidt", {"customer_name": "Anna Schmidt"}, ("schmidt",)),
    ("ru", "Запишите Ивана Петрова.", {"patient_name": "Иван Петров"}, ("Иван", "Петров")),
    ("ar", "اسمي محمد العتيبي.", {"customer_name": "محمد العتيبي"}, ("العتيبي",)),
    ("hi", "मेरा नाम राहुल शर्मा है।", {"customer_name": "राहुल शर्मा"}, ("शर्मा",)),
    ("ko", "제 이름은 김민수입니다.", {"customer_name": "김민수"}, ("김민수",)),
)


def schema_of(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {
            "type": "object",
            "properties": {name: schema_of(one) for name, one in value.items()},
        }
    return {"type": "string", "description": ""}


def said(language: str, text: str, arguments: dict[str, Any]) -> tuple[Sample, Tool]:
    tool = Tool(name="act", description="", category="", parameters=schema_of(arguments))
    calls = (GoldCall(tool="act", arguments=arguments),)
    turns = (UserTurn(text=text), CallTurn(calls=calls))
    return Sample(
        kind=CALL, language=language, category="", candidates=(tool.key,), turns=turns
    ), tool


def found_in(sample: Sample, tool: Tool) -> set[str]:
    return {one.claim.name for _, one in find_in_sample(sample, [tool]) if one.evidence}


@pytest.mark.parametrize(("language", "text", "arguments", "parts"), SPELLED)
def test_words_and_call_have_the_same_other_value_each_in_its_notation(
    language: str, text: str, arguments: dict[str, Any], parts: tuple[str, ...]
) -> None:
    sample, tool = said(language, text, arguments)
    for seed in ("a", "b", "c"):
        after = without_personal_data(sample, [tool], seed).sample
        plain = json.dumps(after.model_dump(), ensure_ascii=False).casefold()
        assert [part for part in parts if part.casefold() in plain] == []
        assert found_in(sample, tool) <= found_in(after, tool), (after.request, after.gold)


def test_an_iban_keeps_its_country_its_length_and_right_check_digits() -> None:
    sample, tool = said(
        "fr", "Sur FR14 2004 1010 0505 0001 3M02 606.", {"iban": "FR1420041010050500013M02606"}
    )
    [call] = without_personal_data(sample, [tool], "x").sample.gold
    made = str(call.arguments["iban"])
    assert (made[:2], len(made), made[-4:]) == ("FR", 27, "2606")
    assert int("".join(str(int(one, 36)) for one in made[4:] + made[:4])) % 97 == 1


def test_words_beside_a_name_stay_where_a_field_tells_the_name() -> None:
    sample, tool = said("en", "Ask Anna Schmidt Parcel 7 today.", {"customer_name": "Anna Schmidt"})
    assert without_personal_data(sample, [tool], "x").sample.request.endswith(" Parcel 7 today.")


def test_a_word_that_is_a_name_elsewhere_stays_in_small_letters() -> None:
    sample, tool = said("en", "Will Smith will pay; will you?", {"customer_name": "Will Smith"})
    assert without_personal_data(sample, [tool], "x").sample.request.endswith(
        " will pay; will you?"
    )


def test_keys_of_results_hold_nobodys_mail() -> None:
    turns = (
        UserTurn(text="Who is there?"),
        CallTurn(calls=(GoldCall(tool="act"),), executed=True),
        ResultTurn(results=({"anna@web.de": "busy"},)),
    )
    sample = Sample(kind=CONVERSATION, language="en", category="", candidates=(), turns=turns)
    assert "anna@web.de" not in without_personal_data(sample, [], "x").sample.model_dump_json()


def test_what_notes_quote_of_an_unreadable_conversation_is_replaced() -> None:
    [note] = without_personal_notes(("An answer is 'Write to anna@web.de'.",), "x")
    assert note.startswith("An answer is 'Write to user")


def replaced(text: str) -> Replaced:
    sample, tool = said("ru", text, {"note": "x"})
    return without_personal_data(sample, [tool], "x")


def test_a_name_in_another_case_has_that_ending_again() -> None:
    text = "Меня зовут Иван Петров. Письмо для Ивана Петрова, отдать Ивану Петрову."
    found = replaced(text)
    first, last = found.values["Иван Петров"].split()
    assert f"для {first}а {last}а, отдать {first}у {last}у." in found.sample.request


def test_what_can_not_be_replaced_is_said() -> None:
    sample, tool = said("en", "It is for ᎠᏂᏔ.", {"customer_name": "ᎠᏂᏔ ᎹᎵ"})
    with pytest.raises(RecordError, match="can't be replaced consistently"):
        without_personal_data(sample, [tool], "x")
