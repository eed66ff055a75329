"""The travel world as an environment."""

from collections.abc import Callable, Mapping

from pydantic import JsonValue

from generators.environments.protocol import Answer
from generators.environments.travel.frame import SIZES, Request, RequestError, World, refusal
from generators.environments.travel.functions import functions
from generators.environments.travel.prose import LANGUAGES
from generators.schemas import argument_problems
from warehouse.errors import ConfigurationError
from warehouse.records import Arguments, Call, Link, Tool

Answering = Callable[[Request, World], JsonValue]
NAME = "travel"


class TravelWorld:
    """Answers every call from its seed and the call alone: no clock, no state, no network."""

    def __init__(self, world: World, name: str) -> None:
        """Answer as `world` does, under `name`."""
        self._world = world
        self._name = name
        self._answering = _answering()

    @property
    def name(self) -> str:
        """The name that recipes and samples call it by."""
        return self._name

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Its functions; `category` is the domain."""
        return tuple(function.tool for function in functions().values())

    @property
    def links(self) -> tuple[Link, ...]:
        """Every place in a response that can give a parameter its value."""
        return tuple(link for function in functions().values() for link in function.links)

    async def answer(self, call: Call) -> Answer:
        """The response to a call; a request that makes no sense is answered with a message, as a real service does."""
        if call.tool not in self._answering:
            return Answer(problem=f"The travel world has no function {call.tool!r}.")
        tool = functions()[call.tool].tool
        problems = argument_problems(tool, call.arguments, partial=False)
        if problems:
            return Answer(refusal(" ".join(problems)))
        code = call.arguments.get("languagecode")
        if code is not None and code not in LANGUAGES:
            return Answer(refusal(f"{code!r} is not a language that texts are shown in; Get_Languages lists them."))
        try:
            return Answer(self._answering[call.tool](Request(_filled(tool, call.arguments)), self._world))
        except RequestError as error:
            return Answer(refusal(str(error)))


def open_travel(seed: int = 0, response_size: str = "medium", name: str = NAME) -> TravelWorld:
    """The travel world of a seed; responses are "short", "medium" (1 to 6 kB as a rule) or "long" (100 kB and more)."""
    if response_size not in SIZES:
        raise ConfigurationError(f"There is no response size {response_size!r}; the sizes are {', '.join(SIZES)}.")
    return TravelWorld(World(seed, SIZES[response_size]), name)


def _filled(tool: Tool, arguments: Arguments) -> Arguments:
    """The arguments with the defaults of what was left out, so that leaving one out changes nothing."""
    defaults = {name: schema["default"] for name, schema in tool.properties.items() if "default" in schema}
    return defaults | arguments


def _answering() -> Mapping[str, Answering]:
    from generators.environments.travel import attractions, cars, flights, hotel_details, hotels, shared, taxis, visits

    return {
        **hotels.ANSWERS,
        **hotel_details.ANSWERS,
        **flights.ANSWERS,
        **cars.ANSWERS,
        **attractions.ANSWERS,
        **visits.ANSWERS,
        **taxis.ANSWERS,
        **shared.ANSWERS,
    }
