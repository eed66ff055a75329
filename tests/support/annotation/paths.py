"""Hand-made multi-step samples and corrected paths for the tests of their screens."""

from pydantic import JsonValue

from callwright.generators.multi_step.answers import answer_of, reported
from callwright.warehouse.records import (
    Call,
    CallPlace,
    CallTurn,
    Condition,
    Correction,
    Default,
    EntryRule,
    Evidence,
    Exchange,
    Goal,
    GoalPath,
    GoldCall,
    JsonSchema,
    Picked,
    PlannedCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    StatedValue,
    Tool,
    TracedGoal,
    UserTurn,
    Verdict,
    WordedGoal,
)

REQUEST = (
    "I am off to Lyon and check in on 5 December 2026, two of us. Tell me about the cheapest hotel"
    " there and what guests say of it."
)
RULE_OF_PLACE = EntryRule(
    entries="data", field="id", where=(Condition(test="equals", field="name", value="Lyon"),)
)
RULE_OF_HOTEL = EntryRule(
    entries="data.hotels", field="hotel_id", where=(Condition(test="lowest", field="price"),)
)


def _tool(name: str, description: str, **properties: JsonSchema) -> Tool:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return Tool(name=name, description=description, parameters=schema, category="Hotels")


TEXT: JsonSchema = {"type": "string", "description": "The name of a place."}
ID: JsonSchema = {
    "type": "string",
    "description": "(`id` of an entry of `data` in the response of Find_Place)",
}
TOOLS = [
    _tool("Find_Place", "Find a place by its name.", query=TEXT),
    _tool(
        "Search_Hotels",
        "Search hotels in a place.",
        place_id=ID,
        arrival={"type": "string", "format": "date"},
        guests={"type": "integer", "minimum": 1, "default": 2},
    ),
    _tool("Hotel_Details", "Tell about a hotel.", hotel_id={"type": "string"}),
    _tool("Hotel_Reviews", "Tell what guests say of a hotel.", hotel_id={"type": "string"}),
]


def places() -> JsonValue:
    """What the search for a place returns: the town, its airport, another."""
    names = [
        ("c7", "Lyon", "city"),
        ("a9", "Lyon Airport", "airport"),
        ("d3", "Old Lyon", "district"),
    ]
    return {
        "status": True,
        "data": [{"id": key, "name": name, "type": kind} for key, name, kind in names],
    }


def hotels(count: int = 6, twins: tuple[int, ...] = (4,), prose: int = 0) -> JsonValue:
    """What the search for hotels returns: entry 2 is the cheapest, and `twins` cost as much."""
    found = [
        {
            "hotel_id": f"h{index}",
            "name": f"House {index}",
            "price": 70 if index == 2 or index in twins else 90 + index,
            "stars": 3 + index % 3,
            "about": {"text": f"Near the river, floor {index}. " + "Quiet rooms. " * prose},
        }
        for index in range(count)
    ]
    return {"status": True, "data": {"hotels": found, "currency": "EUR"}}


def details() -> JsonValue:
    """What is told about the cheapest hotel."""
    return {"status": True, "data": {"hotel_id": "h2", "name": "House 2", "price": 70, "rooms": 12}}


def reviews() -> JsonValue:
    """What guests say of it."""
    return {"status": True, "data": {"score": 8.4, "texts": ["Good bread.", "Quiet."]}}


def _said(argument: str, quote: str, rule: str = "") -> Evidence:
    start = REQUEST.index(quote)
    kind = "normalised" if rule else "span"
    return Evidence(
        argument=argument,
        kind=kind,
        turn=0,
        start=start,
        end=start + len(quote),
        quote=quote,
        rule=rule,
    )


def _picked(argument: str, path: str, rule: EntryRule) -> Evidence:
    return Evidence(argument=argument, kind="response", turn=int(path[6]), path=path, rule=rule)


def path_sample(found: JsonValue = None) -> Sample:
    """Three steps and four calls; where `found` is not given, entry 4 of the hotels is as cheap
    as the one picked.
    """
    place = _picked("place_id", "turns[2].results[0].data[0].id", RULE_OF_PLACE)
    hotel = _picked("hotel_id", "turns[4].results[0].data.hotels[2].hotel_id", RULE_OF_HOTEL)
    search = GoldCall(
        tool="Search_Hotels",
        arguments={"place_id": "c7", "arrival": "2026-12-05", "guests": 2},
        evidence=(
            place,
            _said("arrival", "5 December 2026", "date"),
            Evidence(argument="guests", kind="default"),
        ),
    )
    last = [
        GoldCall(tool=name, arguments={"hotel_id": "h2"}, evidence=(hotel,))
        for name in ("Hotel_Details", "Hotel_Reviews")
    ]
    sample = Sample(
        kind="multi_step",
        language="en",
        category="Hotels",
        candidates=tuple(tool.key for tool in TOOLS),
        turns=(
            UserTurn(text=REQUEST),
            CallTurn(
                calls=(
                    GoldCall(
                        tool="Find_Place",
                        arguments={"query": "Lyon"},
                        evidence=(_said("query", "Lyon"),),
                    ),
                ),
                executed=True,
            ),
            ResultTurn(results=(places(),)),
            CallTurn(calls=(search,), executed=True),
            ResultTurn(results=(hotels() if found is None else found,)),
            CallTurn(calls=tuple(last), executed=True),
            ResultTurn(results=(details(), reviews())),
            ReplyTurn(text="It is done."),
        ),
        facts=SampleFacts(
            environment="town", template="0123abc", wanted=(CallPlace(2, 0), CallPlace(2, 1))
        ),
    )
    return answered(sample)


def answered(sample: Sample) -> Sample:
    """The sample with the answer that code makes from its responses."""
    last = ReplyTurn(text=answer_of(reported(sample), sample.language))
    return sample.with_changes(turns=(*sample.turns[:-1], last))


def doubt(sample: Sample) -> Verdict:
    """What the check of the path says where two hotels are as cheap."""
    return Verdict(
        subject=sample.key,
        check="path",
        decision="unproved",
        reason=(
            "For 'hotel_id' of Hotel_Details, entry 4 of 'data.hotels' of Search_Hotels fits as"
            " well as entry 2."
        ),
    )


def goal() -> Goal:
    place = Picked(
        call=0,
        entries="data",
        field="id",
        where=(Condition(test="equals", field="name", value="Lyon"),),
    )
    hotel = Picked(
        call=1,
        entries="data.hotels",
        field="hotel_id",
        where=(Condition(test="lowest", field="price"),),
    )
    arrival = StatedValue(value="2026-12-05", element="date")
    return Goal(
        environment="town",
        language="en",
        domain="Hotels",
        calls=(
            PlannedCall(
                tool="Find_Place", arguments={"query": StatedValue(value="Lyon", element="city")}
            ),
            PlannedCall(
                tool="Search_Hotels",
                arguments={"place_id": place, "arrival": arrival, "guests": Default(value=2)},
            ),
            PlannedCall(tool="Hotel_Details", arguments={"hotel_id": hotel}, wanted=True),
            PlannedCall(tool="Hotel_Reviews", arguments={"hotel_id": hotel}, wanted=True),
        ),
        candidates=tuple(tool.key for tool in TOOLS),
    )


def _exchange(*pairs: tuple[str, dict[str, JsonValue], JsonValue]) -> Exchange:
    calls = tuple(Call(tool=tool, arguments=arguments) for tool, arguments, _ in pairs)
    return Exchange(calls=calls, responses=tuple(response for _, _, response in pairs))


def goal_path(found: JsonValue = None) -> GoalPath:
    """A path whose trace searched twice, for one guest, in the place of which it knew the name
    only, and no reviews.
    """
    stay = {"arrival": "2026-12-05"}
    offers = hotels(twins=()) if found is None else found
    first = _exchange(("Find_Place", {"query": "Lyon"}, places()))
    trace = (
        first,
        _exchange(("Search_Hotels", {"place_id": "c7", "guests": 1, **stay}, hotels(twins=()))),
        _exchange(("Find_Place", {"query": "Old Lyon"}, places())),
        _exchange(("Hotel_Details", {"hotel_id": "h2"}, details())),
    )
    path = (
        first,
        _exchange(("Search_Hotels", {"place_id": "c7", "guests": 2, **stay}, offers)),
        _exchange(
            ("Hotel_Details", {"hotel_id": "h2"}, details()),
            ("Hotel_Reviews", {"hotel_id": "h2"}, reviews()),
        ),
    )
    shorter = REQUEST.replace(", two of us", "")
    return GoalPath(
        traced=TracedGoal(worded=WordedGoal(goal=goal(), request=shorter), trace=trace),
        request=REQUEST,
        path=path,
        corrections=(
            Correction(
                kind="value",
                step=1,
                before="Search_Hotels.guests = 1",
                after="Search_Hotels.guests = 2",
            ),
            Correction(kind="needless", step=2, before='Find_Place(query="Old Lyon")'),
            Correction(
                kind="order",
                step=2,
                before='step 4: Hotel_Details(hotel_id="h2")',
                after='step 3: Hotel_Details(hotel_id="h2")',
            ),
            Correction(kind="missing", step=2, after='Hotel_Reviews(hotel_id="h2")'),
            Correction(kind="request", before=shorter, after=REQUEST),
        ),
    )
