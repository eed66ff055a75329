"""Values that a model gives for parameters: excess is cut, types are fixed, gaps are drawn.

Models are not asked for what code can settle: a usable answer is taken as it is; after three
unusable ones their usable values are combined, and those that all lack are drawn as the planner
draws its own.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, JsonValue

from callwright.generators.own_values import no_objection
from callwright.generators.stages import ATTEMPTS
from callwright.generators.tools import EMPTY, mended
from callwright.generators.whole_calls import made_problems, made_schemas, whole_call
from callwright.language.calls.parameters import in_context
from callwright.language.calls.sampling import fill_in, out_of_order
from callwright.llm.answer_schemas import arguments_schema, narrowed
from callwright.llm.chat import Answer, ChatModel, Prompt, again
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Language, Tool

_DRAWS = 12


class ArgumentValues(BaseModel):
    """A value for each parameter asked for, by its name."""

    values: Arguments


Given = TypeVar("Given", bound=ArgumentValues)


class WantedValues(NamedTuple):
    """The parameters of a tool that need values beside the known ones, for a language.

    The model may also fill those in `may`; what it gets wrong there is dropped. `objection` says
    why a value that the schema allows can't be used beside others, or "". A call that has all its
    required parameters is made whole; with `extends`, by other parameters as well.
    """

    tool: Tool
    names: Sequence[str]
    language: Language
    seed: int
    known: Mapping[str, JsonValue] = {}
    objection: Callable[[str, Arguments], str] = no_objection
    may: Sequence[str] = ()
    extends: bool = True


async def collect_values(
    chat: ChatModel,
    prompt: Prompt,
    answer: type[Given],
    wanted: WantedValues,
    *,
    attempts: int = ATTEMPTS,
) -> tuple[Arguments, Given]:
    """Return a value for each wanted parameter in order, then extra ones, and the last answer.

    A repeated question says what was wrong.

    `answer` is the type that the prompt asks for, restricted to the tool's schema. More than
    three `attempts` are made only while each parameter gets values, though none that fit the
    others. Raises ReplyError if neither the model nor a random draw gives one that fits.
    """
    kept_values: Arguments = {}
    valid: set[str] = set()
    held, asked_prompt = values_of(answer, wanted.tool, wanted.names, wanted.may), prompt
    for attempt in range(attempts):
        reply = await chat.ask(asked_prompt, held, sample_index=attempt)
        reply_values = given_values(reply, wanted)
        fitting = _fitting(reply_values, wanted)
        if all(name in fitting for name in wanted.names):
            return _made_whole(fitting, wanted), reply
        kept_values = {**fitting, **kept_values}
        valid |= _fitting(
            reply_values, wanted._replace(known={}, objection=no_objection, may=())
        ).keys()
        if attempt + 1 >= ATTEMPTS and valid != set(wanted.names):
            break
        asked_prompt = again(
            prompt, reply.model_dump_json(), _told_lacking(reply_values, fitting, wanted)
        )
    return _made_whole(_with_draws(_fitting(kept_values, wanted), wanted), wanted), reply


def _made_whole(values: Arguments, wanted: WantedValues) -> Arguments:
    given, known = {**wanted.known, **values}, wanted.known
    if not given.keys() >= {*wanted.tool.required}:
        return values
    rng = Random(f"{wanted.seed}:whole")
    whole = whole_call(
        wanted.tool, given, wanted.language, rng, kept=[*known], may_add=wanted.extends
    )
    return values if whole == given else {n: one for n, one in whole.items() if n not in known}


def _told_lacking(given: Arguments, fitting: Arguments, wanted: WantedValues) -> str:
    """Return what makes an answer insufficient, in one sentence for each parameter."""
    return " ".join(
        (
            _problem(name, {**wanted.known, **fitting, name: given[name]}, wanted)
            if name in given
            else f"There is no value for {name!r}."
        )
        for name in wanted.names
        if name not in fitting
    )


def values_of(
    answer: type[Answer], tool: Tool, names: Sequence[str], may: Sequence[str] = ()
) -> type[Answer]:
    """Narrow `answer`, a kind of ArgumentValues, to exactly what the tool takes for these names."""
    return narrowed(answer, {"values": arguments_schema(tool, names, may)})


def given_values(answer: ArgumentValues, wanted: WantedValues) -> Arguments:
    """Return the requested values of an answer, each converted to its type where possible."""
    properties, wanted_names = wanted.tool.properties, {*wanted.names, *wanted.may}
    return {
        name: mended(value, properties[name])
        for name, value in answer.values.items()
        if name in wanted_names
    }


def _fitting(given: Arguments, wanted: WantedValues) -> Arguments:
    """Return the values that fit, together with the known ones and those before them."""
    taken: Arguments = {}
    for name in (*wanted.names, *wanted.may):
        if name in given and not _problem(
            name, {**wanted.known, **taken, name: given[name]}, wanted
        ):
            taken[name] = given[name]
    return taken


def _problem(name: str, values: Arguments, wanted: WantedValues) -> str:
    return (
        value_problem(wanted.tool, name, values[name])
        or _order_problem(name, values, wanted.tool)
        or wanted.objection(name, values)
    )


def _order_problem(name: str, values: Arguments, tool: Tool) -> str:
    # of these alone: a tool may have hundreds, and every value is asked about
    schemas = {one: tool.properties[one] for one in values if one in tool.properties}
    given = {one: values[one] for one in schemas}
    pair = out_of_order(given, in_context(schemas, tool.name, tool.description))
    return f"{pair[1]!r} comes before {pair[0]!r}." if pair and name in pair else ""


def value_problem(tool: Tool, name: str, value: JsonValue) -> str:
    """Return why a value can't be given, or "": it is empty or the schema refuses it."""
    if value in EMPTY:
        return f"the value of {name!r} is empty."
    return " ".join(made_problems(tool, {name: value}, partial=True))


def _with_draws(given: Arguments, wanted: WantedValues) -> Arguments:
    """Draw the missing values at random. Raises ReplyError if no draw fits."""
    left = [name for name in wanted.names if name not in given]
    complaint = (
        f"{ATTEMPTS} answers gave no value that does for {', '.join(left)} of {wanted.tool.name!r}"
    )
    rng = Random(f"{wanted.seed}:drawn")
    problem = ""
    schemas = in_context(made_schemas(wanted.tool), wanted.tool.name, wanted.tool.description)
    for _ in range(_DRAWS if left else 1):
        try:
            drawn = fill_in(left, schemas, wanted.language, rng, {**wanted.known, **given})
        except ReplyError as error:
            raise ReplyError(f"{complaint}: {error}") from error
        values = {**wanted.known, **given, **drawn}
        problem = next((found for name in left if (found := _problem(name, values, wanted))), "")
        if not problem:
            return {name: values[name] for name in (*wanted.names, *given)}
    raise ReplyError(f"{complaint}: {problem}")
