"""The phrase that points, and the message that holds the value: what is asked for again, and
what is given up.
"""

import pytest

from callwright.generators.external.messages import Pronoun, SimulatedMessage, write_messages
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import EntityReference, Sample
from tests.support.generators.external.fixtures import context_of, derivation

PHRASE = Pronoun(phrase="the place my sister texted me")
GOOD = SimulatedMessage(
    message=(
        "Hello! I asked the others again. Everybody is coming to [destination] this time. Write"
        " back soon!"
    )
)


@pytest.fixture
def reference(perfect: Sample) -> EntityReference:
    return EntityReference(
        derivation=derivation(perfect),
        turn=0,
        argument="destination",
        value="Central Station",
        entity="location",
        app="sms",
    )


async def test_the_message_says_the_value_where_it_is_said_to(reference: EntityReference) -> None:
    (made,) = await write_messages(
        reference, context_of(word_pronoun=[PHRASE], write_message=[GOOD])
    )
    assert made.phrase == "the place my sister texted me"
    assert made.message[made.start : made.end] == "Central Station"
    assert made.origin is not None
    assert made.origin.parents == (reference.key,)


@pytest.mark.parametrize(
    ("phrase", "reason"),
    [
        ("the Central Station my sister texted me", "says the value 'Central Station' itself"),
        ("the place near the old mill in the email", "which is the value of 'pickup'"),
        ("the luxury place in the email", "'luxury' could be taken for the parameter 'vehicle'"),
        ("the place she told me on March 3, 2027", "could be taken for the parameter 'date'"),
        ("", "the phrase has 0 characters"),
        ("I mean what she said. Yes!", "is a sentence"),
        ("我姐短信里说的地方", "is not in the language 'en'"),
    ],
)
async def test_a_phrase_that_gives_something_away_is_worded_again(
    reference: EntityReference, phrase: str, reason: str
) -> None:
    bad = Pronoun(phrase=phrase)
    context = context_of(word_pronoun=[bad, PHRASE], write_message=[GOOD])
    assert (await write_messages(reference, context))[0].phrase == PHRASE.phrase
    with pytest.raises(ReplyError, match=reason):
        await write_messages(reference, context_of(word_pronoun=[bad] * 3))


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Short: [destination]", "The message has 22 characters"),
        ("We all meet in front of the old mill and go to [destination].", "the value of 'pickup'"),
        ("Let us go to [destination] on the third of March and have a good time.", "'date'"),
        ("All 3 of us are going to [destination], and it will be wonderful.", "says '3'"),
        (
            "Let us all go to [destination] in a luxury car, and have a good time.",
            "could be taken for the parameter 'vehicle'",
        ),
        (
            "Let us all go to the place you know, I am looking forward to it.",
            r"Missing: \[destination\]",
        ),
        ("我们都在[destination]碰头，其他人也都同意了，希望你也能来，到时候见。", "in English"),
    ],
)
async def test_a_message_that_says_too_much_or_too_little_is_written_again(
    reference: EntityReference, message: str, reason: str
) -> None:
    bad = SimulatedMessage(message=message)
    context = context_of(word_pronoun=[PHRASE], write_message=[bad, bad, GOOD])
    (made,) = await write_messages(reference, context)
    assert made.message == GOOD.message.replace("[destination]", "Central Station")
    with pytest.raises(ReplyError, match=reason):
        await write_messages(reference, context_of(word_pronoun=[PHRASE], write_message=[bad] * 3))


async def test_a_reference_to_what_nobody_said_is_refused(reference: EntityReference) -> None:
    with pytest.raises(RecordError, match="does not say 'Nowhere' for 'destination'"):
        await write_messages(reference.with_changes(value="Nowhere"), context_of())
