"""Environments with stored responses: asking each call once, never, or with a reset.

A server that is reset is a world: stored episodes of calls that change it are replayed without
it. An answer's key is the call and those that may have changed the server since its reset, in
order; calls that only read leave no trace. The state is what some calls reveal, or the files of
the server's folder: each list of objects in it holds things of a kind, known by what identifies
them.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import orjson
from pydantic import JsonValue, ValidationError

from callwright.generators.environments.episodes import Fields, ThingKey, WorldState, state_of
from callwright.generators.environments.linking import IDENTIFYING, is_opaque, words_of
from callwright.generators.environments.protocol import (
    CallResponse,
    Environment,
    Made,
    without_tool,
)
from callwright.generators.environments.response_store import (
    FILES,
    Description,
    Drift,
    ResponseStore,
    call_key,
)
from callwright.generators.environments.vocabularies import (
    SeededSpeech,
    Vocabulary,
    vocabulary_of_calls,
)
from callwright.warehouse.errors import (
    ConfigurationError,
    RecordError,
    TransientError,
    first_problem,
)
from callwright.warehouse.records import Call, Link, Tool, content_key

LARGEST_LINE = 64 * 2**20
_SQLITE = b"SQLite format 3\x00"
_VALUE = "value"  # the field of what is no thing of a kind


class DescribedEnvironment:
    """An environment's tools, links and known calls, taken from a stored description."""

    description: Description

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the environment."""
        return self.description.tools

    @property
    def offered(self) -> tuple[Tool, ...]:
        """List its tools and those with no known answers, for samples that need no answers."""
        return (*self.description.tools, *self.description.unanswered)

    @property
    def links(self) -> tuple[Link, ...]:
        """The links of the environment."""
        return self.description.links

    @property
    def known_calls(self) -> tuple[Call, ...]:
        """The calls known to be answered: people can ask for these."""
        return self.description.calls

    @property
    def vocabulary(self) -> Vocabulary | None:
        """What people say, taken from the known calls; None if no calls are known."""
        if self.known_calls:
            return vocabulary_of_calls(self.tools, self.links, self.known_calls)
        return None

    def sent(self, call: Call) -> Call | str:
        """Return a call with the tool's constants, as sent and stored, or why it can't be sent."""
        constants = next((tool.constants for tool in self.tools if tool.name == call.tool), {})
        hidden = [name for name in call.arguments if name in constants]
        if hidden:
            return f"{call.tool} has no parameter {', '.join(map(repr, hidden))}."
        return call.with_changes(arguments={**call.arguments, **constants}) if constants else call


class StoredEnvironment(DescribedEnvironment):
    """Stores every response of another environment.

    Passing problems (no connection, timeout, a fault) are noted, not stored.
    """

    def __init__(
        self,
        inner: Environment,
        path: Path,
        description: Description | None = None,
        *,
        kept_as: str = "",
        remember: Callable[[Call], None] | None = None,
    ) -> None:
        """Open the store at `path`. `description` replaces the tools and links of `inner`.

        `kept_as` is the environment's name in the store, for when its own name does not identify
        everything that its answers depend on. `remember` is called with each call that the store
        answers, if `inner` has to know of it.
        """
        self.inner, self.kept_as, self._remember = inner, kept_as or inner.name, remember
        self.store = ResponseStore(path)
        self.description = description or Description(inner.tools, inner.links)
        self._asking: dict[str, asyncio.Future[CallResponse]] = {}

    @property
    def name(self) -> str:
        """The name of the inner environment."""
        return self.inner.name

    @property
    def vocabulary(self) -> Vocabulary | None:
        """What people say, as the inner environment defines it, or else from its known calls."""
        own = getattr(self.inner, "vocabulary", None)
        return own if isinstance(own, Vocabulary) else super().vocabulary

    def vocabulary_at(self, seed: int) -> Vocabulary | None:
        """Return what people say in the world of a seed."""
        inner = self.inner
        return inner.vocabulary_at(seed) if isinstance(inner, SeededSpeech) else self.vocabulary

    async def answer(self, call: Call) -> CallResponse:
        """Return the stored response or ask now, only once even for simultaneous requests."""
        if call.tool not in {tool.name for tool in self.tools}:
            return CallResponse(
                problem=f"{self.name} has no tool {call.tool!r} that may be called."
            )
        sent = self.sent(call)
        if isinstance(sent, str):
            return CallResponse(problem=sent)
        key = call_key(sent)
        while (asking := self._asking.get(key)) is not None:
            await asyncio.wait([asking])
            if not asking.cancelled():
                return asking.result()
        stored_answer = self.store.get(self.kept_as, sent)
        if stored_answer is not None:
            if self._remember is not None:
                self._remember(sent)
            return stored_answer
        asking = self._asking[key] = asyncio.get_running_loop().create_future()
        try:
            answer = await self.inner.answer(sent)
            if answer.passing:
                self.store.note_lapse(self.kept_as, sent, answer.problem)
            else:
                answer = self.store.put(self.kept_as, sent, answer)
            asking.set_result(answer)
        finally:
            asking.cancel()  # does nothing to one that ended
            del self._asking[key]
        return answer

    async def refresh(self, call: Call) -> CallResponse:
        """Repeat a call in its sent form and record a different answer, which `drifted` lists."""
        answer = await self.inner.answer(call)
        if answer.passing:
            self.store.note_lapse(self.kept_as, call, answer.problem)
        else:
            self.store.renew(self.kept_as, call, answer)
        return answer

    async def refresh_all(self) -> list[Drift]:
        """Ask again every stored call that followed no others; return what has drifted by now."""
        stored = list(self.store.stored(self.kept_as))
        for call in {
            one.key: one.call for one in stored if not one.after and one.call != FILES
        }.values():
            await self.refresh(call)
        return self.drifted()

    def drifted(self) -> list[Drift]:
        """Return the calls whose answer changed when asked again, with both times."""
        return self.store.drifts(self.kept_as)

    def redescribe(self, description: Description, basis: str) -> None:
        """Switch to other tools and links, and store them for those who open the store later."""
        self.store.describe(self.kept_as, basis, description)
        self.description = description

    def close(self) -> None:
        """Close the store."""
        self.store.close()


class Recording(NamedTuple):
    """Stored answers with their tools and links; `answer` returns None for unknown calls."""

    description: Description
    answer: Callable[[Call], CallResponse | None]


class RecordedEnvironment(DescribedEnvironment):
    """Answers from a recording; a call that is not recorded gets a problem."""

    def __init__(self, name: str, recording: Recording) -> None:
        """Use the recording's own tools and links."""
        self.name, self.description, self._recorded = name, recording.description, recording.answer

    async def answer(self, call: Call) -> CallResponse:
        """Return the recorded answer, or a problem."""
        sent = self.sent(call)
        found = CallResponse(problem=sent) if isinstance(sent, str) else self._recorded(sent)
        return found or CallResponse(
            problem=f"No response is recorded for this call of {call.tool}."
        )


def recording_of(store: ResponseStore, environment: str) -> Recording:
    """Return the newest answers of one environment in a response store, which stays open."""
    return Recording(
        store.description(environment) or Description((), ()), partial(store.get, environment)
    )


def read_recording(path: Path) -> Recording:
    """Read a JSON-lines file of {"call": …, "response": …}, {"tool": …} and {"link": …}.

    Tools and links say what it answers. A call with "known": true is among the known calls. Only
    the position of each response is held in memory. A repeated call gets its later response.
    Raises ConfigurationError that names the first unusable line.
    """
    places: dict[str, tuple[int, int]] = {}
    tools: list[Tool] = []
    links: list[Link] = []
    calls: list[Call] = []
    for number, (start, line) in enumerate(_lines(path), start=1):
        row = _row(path, number, line)
        try:
            if "tool" in row:
                tools.append(Tool.model_validate(row["tool"]))
            elif "link" in row:
                links.append(Link.model_validate(row["link"]))
            else:
                call = Call.model_validate(row["call"])
                places[call_key(call)] = (start, len(line))
                calls += [call] if row.get("known") is True else []
        except ValidationError as error:
            problem = f"Line {number} of {str(path)!r} is wrong at {first_problem(error)}."
            raise ConfigurationError(problem) from error

    def answer(call: Call) -> CallResponse | None:
        start, length = places.get(call_key(call), (0, 0))
        if not length:
            return None
        with path.open("rb") as file:
            file.seek(start)
            row = orjson.loads(file.read(length))
        return CallResponse(row.get("response"), row.get("problem", ""))

    return Recording(Description(tuple(tools), tuple(links), tuple(calls)), answer)


def open_recording(path: Path, environment: str) -> Recording:
    """Open the recording at `path`: a response store, or JSON lines.

    Raises ConfigurationError if it is neither.
    """
    if next(_lines(path), (0, b""))[1][: len(_SQLITE)] != _SQLITE:
        return read_recording(path)
    store = ResponseStore(path)
    known_environments = store.environments()
    if environment not in known_environments:
        store.close()
        raise ConfigurationError(
            f"The store {str(path)!r} holds no environment {environment!r}, but"
            f" {known_environments}."
        )
    return recording_of(store, environment)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its start."""
    start = 0
    try:
        with path.open("rb") as file:
            while line := file.readline(LARGEST_LINE):
                if line.strip():
                    yield start, line
                start += len(line)
    except OSError as error:
        problem = f"The recording {str(path)!r} can't be read ({error.strerror})."
        raise ConfigurationError(problem) from error


def _row(path: Path, number: int, line: bytes) -> dict[str, JsonValue]:
    try:
        row: JsonValue = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        problem = f"Line {number} of {str(path)!r} is not JSON ({error})."
        raise ConfigurationError(problem) from error
    if isinstance(row, dict) and (
        row.keys() & {"tool", "link"} or ("call" in row and row.keys() & {"response", "problem"})
    ):
        return row
    raise ConfigurationError(
        f"Line {number} of {str(path)!r} has neither a call with its response nor a tool nor a"
        " link."
    )


class AskedServer(Protocol):
    """A server that answers a call after earlier calls."""

    def ask_after(self, past: Sequence[Made], call: Call, *, writes: bool) -> CallResponse:
        """Return the answer, or a `problem`; FILES returns the files of the server's folder."""


class ServerWorld(DescribedEnvironment):
    """A server's answers in episodes (`StatefulWorld`); without a server, only the stored ones."""

    seed = 0  # a reset leads to one beginning
    unclear: tuple[str, ...] = ()

    def __init__(
        self, name: str, description: Description, store: Path, server: AskedServer | None
    ) -> None:
        """Keep answers in the response store at `store`, under `name`."""
        self.name, self.description, self._store, self.server = name, description, store, server
        self._reading = frozenset(description.reading)
        self._pasts: dict[str, tuple[Made, ...]] = {}

    def writes(self, tool: str) -> bool:
        """Whether the tool may change the server: it is not marked or declared as read-only."""
        return tool not in self._reading

    def begin(self, seed: int | None = None) -> "ServerEpisode":
        """Begin an episode; whatever the seed, the server starts from its reset."""
        del seed
        return ServerEpisode(self)

    async def answer(self, call: Call) -> CallResponse:
        """Return the server's answer to a call in sent form after a reset, without storing it."""
        return await asyncio.to_thread(self._asked, (), call)

    def answered(self, past: Sequence[Made], call: Call) -> CallResponse:
        """Return the stored answer to a call after others, or ask the server and store it."""
        sent = self.sent(call)
        return CallResponse(problem=sent) if isinstance(sent, str) else self._kept(past, sent)

    def _kept(self, past: Sequence[Made], sent: Call) -> CallResponse:
        after = [made.call for made in past]
        with closing(ResponseStore(self._store)) as store:
            known = store.get(self.name, sent, after)
            if known is not None:
                return known
            answer = self._asked(past, sent)
            if answer.passing:
                store.note_lapse(self.name, sent, answer.problem)
                return answer
            return store.put(self.name, sent, answer, after)

    def _asked(self, past: Sequence[Made], sent: Call) -> CallResponse:
        if self.server is None:
            where = f" after {len(past)} others" if past else ""
            problem = f"No response is recorded for this call of {sent.tool}{where}."
            return CallResponse(problem=problem, passing=True)
        return self.server.ask_after(past, sent, writes=self.writes(sent.tool))

    def state_after(self, past: Sequence[Made]) -> dict[ThingKey, Fields]:
        """Return the things that exist after these calls.

        Raises TransientError if the server does not report them.
        """
        things_by_key: dict[ThingKey, Fields] = {}
        for call in self.description.told_by or ():
            answer = self._kept(past, call)
            if answer.problem:
                raise TransientError(f"What {self.name!r} holds is not told: {answer.problem}")
            things_by_key |= things_told(call, answer.response)
        return things_by_key

    def note(self, state: WorldState, past: tuple[Made, ...]) -> None:
        """Remember the calls that led to a state."""
        self._pasts[content_key(state.dumped())] = past

    def past_of(self, state: WorldState) -> tuple[Made, ...]:
        """Return the calls that led to a state. Raises RecordError if they are not known."""
        known_past = self._pasts.get(content_key(state.dumped()))
        if known_past is None:
            raise RecordError(
                f"{self.name!r} is a server: of a state that no episode here was in nobody knows"
                " how to reach it."
            )
        return known_past


class ServerEpisode:
    """One run in a server's world (`WorldEpisode`)."""

    def __init__(self, world: ServerWorld) -> None:
        self._world, self._past, self._clock = world, tuple[Made, ...](), 0

    @property
    def state(self) -> WorldState:
        """The difference between the server's report now and its report after a reset."""
        first, now = self._world.state_after(()), self._world.state_after(self._past)
        return state_of(first, now, self._clock)

    def answer(self, call: Call) -> CallResponse:
        """Return the response, and remember a call that may have changed the server.

        The next call is answered after it.
        """
        if call.tool not in {tool.name for tool in self._world.tools}:
            return without_tool(self._world.name, call)
        answer = self._world.answered(self._past, call)
        sent = self._world.sent(call)
        if self._world.writes(call.tool) and not answer.passing and isinstance(sent, Call):
            self._past = (*self._past, Made(sent, answer))
        self._clock += not answer.problem
        return answer

    def snapshot(self) -> WorldState:
        """Return the current state, which `restore` accepts."""
        state = self.state
        self._world.note(state, self._past)
        return state

    def restore(self, snapshot: WorldState) -> None:
        """Return to a state that an episode of this world was in.

        Raises RecordError for any other state.
        """
        self._past, self._clock = self._world.past_of(snapshot), snapshot.clock


def things_told(call: Call, response: JsonValue) -> dict[ThingKey, Fields]:
    """Return the things in a response: list entries by id, files by path, other values as is."""
    if call == FILES and isinstance(response, dict):
        return {ThingKey("file", path): {"content": content} for path, content in response.items()}
    things_by_key: dict[ThingKey, Fields] = {}
    members: Mapping[str, JsonValue] = response if isinstance(response, dict) else {"": response}
    for name, member in members.items():
        entries = (
            [one for one in member if isinstance(one, dict)] if isinstance(member, list) else []
        )
        if isinstance(member, list) and len(entries) == len(member):
            kind = " ".join(words_of(name)) or call.tool
            things_by_key |= {ThingKey(kind, id_): entry for id_, entry in _named(entries)}
        else:
            things_by_key[ThingKey(call.tool, name)] = {_VALUE: member}
    return things_by_key


def _named(entries: Sequence[Mapping[str, JsonValue]]) -> Iterator[tuple[str, Fields]]:
    """Yield entries under an id, else a name, else a content key; duplicates are numbered."""
    seen: dict[str, int] = {}
    for entry in entries:
        names = [name for name in entry if IDENTIFYING & set(words_of(name)[-1:])]
        own = next(
            (name for name in (*filter(is_opaque, names), *names) if len(words_of(name)) <= 2),  # noqa: PLR2004
            "",
        )
        known = str(entry[own]) if own else content_key(dict(entry))
        seen[known] = seen.get(known, 0) + 1
        yield known if seen[known] == 1 else f"{known} ({seen[known]})", entry
