"""A small dining catalog and samples of it."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from callwright.annotation.studio.records import PulledAnnotation
from callwright.warehouse.records import (
    CallTurn,
    Evidence,
    GoldCall,
    Message,
    ReplyTurn,
    Sample,
    SampleFacts,
    Tool,
    UserTurn,
    Verdict,
)

REQUEST = (
    "Could you get us a table at Trattoria Verde on the 3rd of May at half past seven in the"
    " evening? We are four."
)
FOUR = REQUEST.index("four")


def _schema(required: list[str], **properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


@pytest.fixture
def tools() -> list[Tool]:
    book = Tool(
        name="book_table",
        description="Books a table in a restaurant.",
        category="dining",
        parameters=_schema(
            ["restaurant", "date"],
            restaurant={"type": "string", "description": "Name of the restaurant."},
            date={"type": "string", "format": "date", "description": "Day of the visit."},
            time={
                "type": "string",
                "pattern": r"^([01]\d|2[0-3]):[0-5]\d$",
                "description": "Time of the visit.",
            },
            people={
                "type": "integer",
                "minimum": 1,
                "maximum": 20,
                "description": "How many guests come.",
            },
            seating={"type": "string", "enum": ["inside", "outside", "bar"], "default": "inside"},
        ),
    )
    cancel = Tool(
        name="cancel_table",
        description="Cancels a booked table.",
        category="dining",
        parameters=_schema(
            ["booking"], booking={"type": "string", "description": "Booking number."}
        ),
    )
    return [book, cancel]


@pytest.fixture
def make_sample(tools: list[Tool]):
    def make(request: str = REQUEST, number: int = 0, kind: str = "perfect") -> Sample:
        call = GoldCall(
            tool="book_table",
            arguments={
                "restaurant": "Trattoria Verde",
                "date": "2026-05-03",
                "time": "19:30",
                "people": 4,
            },
            evidence=(
                Evidence(
                    argument="restaurant",
                    kind="span",
                    turn=0,
                    start=28,
                    end=43,
                    quote="Trattoria Verde",
                ),
                Evidence(
                    argument="date",
                    kind="normalised",
                    turn=0,
                    start=51,
                    end=61,
                    quote="3rd of May",
                    rule="date",
                ),
                Evidence(
                    argument="people",
                    kind="normalised",
                    turn=0,
                    start=FOUR,
                    end=FOUR + 4,
                    quote="four",
                    rule="number",
                ),
            ),
        )
        return Sample(
            kind=kind,
            language="en",
            category="dining",
            candidates=tuple(tool.key for tool in tools),
            turns=(
                UserTurn(text=request, external=Message(app="Mail", text="See you there!")),
                CallTurn(calls=(call,)),
            ),
            facts=SampleFacts(labels=(f"number:{number}",)),
        )

    return make


@pytest.fixture
def sample(make_sample) -> Sample:
    return make_sample()


@pytest.fixture
def dialogue(tools: list[Tool]) -> Sample:
    """Asked and answered one by one; one answer stands in a message, and one value is corrected."""
    place = Evidence(
        argument="restaurant", kind="span", turn=0, start=11, end=20, quote="Blue Boat"
    )
    day = Evidence(
        argument="date",
        kind="normalised",
        turn=3,
        start=19,
        end=29,
        quote="3rd of May",
        in_message=True,
        rule="date",
    )
    three = Evidence(
        argument="people", kind="normalised", turn=6, start=7, end=12, quote="three", rule="number"
    )
    four = Evidence(
        argument="people", kind="normalised", turn=9, start=21, end=25, quote="four", rule="number"
    )
    known = {"restaurant": "Blue Boat", "date": "2026-05-03"}
    return Sample(
        kind="sQsA_SO_case2",
        language="en",
        category="dining",
        candidates=tuple(tool.key for tool in tools),
        turns=(
            UserTurn(text="A table at Blue Boat, please."),
            _due({"restaurant": "Blue Boat"}, place),
            ReplyTurn(text="For which day?"),
            UserTurn(
                text="The day that Ann names.",
                external=Message(app="Mail", text="Let us meet on the 3rd of May."),
            ),
            _due(known, place, day),
            ReplyTurn(text="How many are you?"),
            UserTurn(text="We are three."),
            _due(known | {"people": 3}, place, day, three),
            ReplyTurn(text="At what time?"),
            UserTurn(text="Sorry, there will be four of us."),
            _due(known | {"people": 4}, place, day, four),
        ),
        facts=SampleFacts(shifts=(3,)),
    )


def _due(arguments: dict[str, object], *evidence: Evidence) -> CallTurn:
    return CallTurn(calls=(GoldCall(tool="book_table", arguments=arguments, evidence=evidence),))


@pytest.fixture
def verdicts(sample: Sample) -> list[Verdict]:
    return [
        Verdict(subject=sample.key, check="format", decision="proved"),
        Verdict(
            subject=sample.key,
            check="consistency",
            decision="unproved",
            score=0.91,
            reason="No time was said.",
        ),
        Verdict(
            subject=sample.key,
            check="grounding",
            decision="contradicted",
            reason="The time is said nowhere.",
        ),
    ]


@pytest.fixture
def annotate(sample: Sample):
    """An annotation of the sample, as it comes back from Label Studio; the arguments are what
    the controls hold.
    """

    def make(
        verdicts: tuple[str, ...] = (),
        *,
        reasons: tuple[str, ...] = (),
        typed: Mapping[str, str] = MappingProxyType({}),
        comment: str | None = None,
        **changes: object,
    ) -> PulledAnnotation:
        held = {**typed, **({} if comment is None else {"comment": comment})}
        result = [_choices("verdict", [verdict]) for verdict in verdicts]
        result += [_choices("reasons", list(reasons))] if reasons else []
        result += [_choices(name, [one]) for name, one in held.items() if name.startswith("choice")]
        result += [
            {
                "from_name": name,
                "to_name": "conversation",
                "type": "textarea",
                "value": {"text": [text]},
            }
            for name, text in held.items()
            if not name.startswith("choice")
        ]
        return PulledAnnotation.model_validate(
            {
                "server": "http://127.0.0.1:1",
                "task_id": 7,
                "annotation_id": 70,
                "kind": "sample_review",
                "subject": sample.key,
                "version": 1,
                "reviewer": "reviewer@localhost",
                "reviewed_at": "2026-11-21T10:00:00Z",
                "seconds": 12.5,
                "result": result,
            }
            | changes
        )

    return make


def _choices(name: str, chosen: list[str]) -> dict[str, object]:
    return {
        "from_name": name,
        "to_name": "conversation",
        "type": "choices",
        "value": {"choices": chosen},
    }
