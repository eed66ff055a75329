"""A server that is reset, as a world: episodes of calls that change it, each answered once and kept with the calls before it.

What is kept is replayed without the server. The key of an answer is the call and those that may have changed the server since its
reset, in their order; what only reads leaves no trace. The state is what some calls tell, or the files of the server's folder: each
list of objects in it holds things of a kind, known by what identifies them.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from callwright.generators.environments.episodes import Fields, ThingKey, WorldState, state_of
from callwright.generators.environments.linking import IDENTIFYING, is_opaque, words_of
from callwright.generators.environments.protocol import CallResponse, Made, without_tool
from callwright.generators.environments.response_store import FILES, Description, ResponseStore
from callwright.generators.environments.stored import DescribedEnvironment
from callwright.warehouse.errors import RecordError, TransientError
from callwright.warehouse.records import Call, content_key

_VALUE = "value"  # the field of what is no thing of a kind


class AskedServer(Protocol):
    """A server that answers calls after others."""

    def answer_after(self, past: Sequence[Made], call: Call, *, writes: bool) -> CallResponse:
        """The answer, or in `problem` why there is none."""

    def tell_after(self, past: Sequence[Made], call: Call) -> CallResponse:
        """What a call that tells the state is answered, whatever tools are meant to be called; FILES tells its folder's files."""


class ServerWorld(DescribedEnvironment):
    """What a server answers in episodes (`StatefulWorld`); without a server what is kept of it."""

    seed = 0  # a reset leads to one beginning
    unclear: tuple[str, ...] = ()

    def __init__(self, name: str, description: Description, store: Path, server: AskedServer | None) -> None:
        """Keep answers in the response store at `store`, under `name`."""
        self.name, self.description, self._store, self.server = name, description, store, server
        self._reading = frozenset(description.reading)
        self._pasts: dict[str, tuple[Made, ...]] = {}

    def writes(self, tool: str) -> bool:
        """Whether a call of the tool may change the server: whether it is not marked, or said, to read only."""
        return tool not in self._reading

    def begin(self, seed: int | None = None) -> "ServerEpisode":
        """A new episode, as the server is after a reset whatever the seed."""
        del seed
        return ServerEpisode(self)

    async def answer(self, call: Call) -> CallResponse:
        """What the server answers a call as it is sent after a reset; it is for others to keep it."""
        return await asyncio.to_thread(self._asked, (), call)

    def answered(self, past: Sequence[Made], call: Call) -> CallResponse:
        """What is kept of a call after others, else what the server answers now; that is kept."""
        sent = self.sent(call)
        return CallResponse(problem=sent) if isinstance(sent, str) else self._kept(past, sent)

    def _kept(self, past: Sequence[Made], sent: Call, *, tells: bool = False) -> CallResponse:
        after = [made.call for made in past]
        with closing(ResponseStore(self._store)) as store:
            known = store.get(self.name, sent, after)
            if known is not None:
                return known
            answer = self._asked(past, sent, tells=tells)
            if answer.passing:
                store.note_lapse(self.name, sent, answer.problem)
                return answer
            return store.put(self.name, sent, answer, after)

    def _asked(self, past: Sequence[Made], sent: Call, *, tells: bool = False) -> CallResponse:
        if self.server is None:
            where = f" after {len(past)} others" if past else ""
            problem = f"No response is recorded for this call of {sent.tool}{where}."
            return CallResponse(problem=problem, passing=True)
        if tells:
            return self.server.tell_after(past, sent)
        return self.server.answer_after(past, sent, writes=self.writes(sent.tool))

    def state_after(self, past: Sequence[Made]) -> dict[ThingKey, Fields]:
        """The things that there are after these calls. Raises TransientError where the server does not tell them."""
        found: dict[ThingKey, Fields] = {}
        for call in self.description.told_by or ():
            answer = self._kept(past, call, tells=True)
            if answer.problem:
                raise TransientError(f"What {self.name!r} holds is not told: {answer.problem}")
            found |= things_told(call, answer.response)
        return found

    def note(self, state: WorldState, past: tuple[Made, ...]) -> None:
        """Keep by which calls a state was reached."""
        self._pasts[content_key(state.dumped())] = past

    def past_of(self, state: WorldState) -> tuple[Made, ...]:
        """The calls by which a state was reached. Raises RecordError where that is not known."""
        known = self._pasts.get(content_key(state.dumped()))
        if known is None:
            raise RecordError(
                f"{self.name!r} is a server: of a state that no episode here was in nobody knows how to reach it."
            )
        return known


class ServerEpisode:
    """One run in a server's world (`WorldEpisode`)."""

    def __init__(self, world: ServerWorld) -> None:
        self._world, self._past, self._clock = world, tuple[Made, ...](), 0

    @property
    def state(self) -> WorldState:
        """How what the server tells differs from what it tells after a reset."""
        first, now = self._world.state_after(()), self._world.state_after(self._past)
        return state_of(first, now, self._clock)

    def answer(self, call: Call) -> CallResponse:
        """The response; a call that may have changed the server is one of those after which the next is answered."""
        if call.tool not in {tool.name for tool in self._world.tools}:
            return without_tool(self._world.name, call)
        answer = self._world.answered(self._past, call)
        sent = self._world.sent(call)
        if self._world.writes(call.tool) and not answer.passing and isinstance(sent, Call):
            self._past = (*self._past, Made(sent, answer))
        self._clock += not answer.problem
        return answer

    def snapshot(self) -> WorldState:
        """The state, to go back to."""
        state = self.state
        self._world.note(state, self._past)
        return state

    def restore(self, snapshot: WorldState) -> None:
        """Go back to a state that an episode of this world was in. Raises RecordError where none was."""
        self._past, self._clock = self._world.past_of(snapshot), snapshot.clock


def things_told(call: Call, response: JsonValue) -> dict[ThingKey, Fields]:
    """The things in what a call tells: entries of lists by what identifies them, files by their paths, all else as it stands."""
    if call == FILES and isinstance(response, dict):
        return {ThingKey("file", path): {"content": content} for path, content in response.items()}
    found: dict[ThingKey, Fields] = {}
    members: Mapping[str, JsonValue] = response if isinstance(response, dict) else {"": response}
    for name, member in members.items():
        entries = [one for one in member if isinstance(one, dict)] if isinstance(member, list) else []
        if isinstance(member, list) and len(entries) == len(member):
            kind = " ".join(words_of(name)) or call.tool
            found |= {ThingKey(kind, id_): entry for id_, entry in _named(entries)}
        else:
            found[ThingKey(call.tool, name)] = {_VALUE: member}
    return found


def _named(entries: Sequence[Mapping[str, JsonValue]]) -> Iterator[tuple[str, Fields]]:
    """Each entry with what it is known by: an id, else a name, else all that it holds; equal ones are counted."""
    seen: dict[str, int] = {}
    for entry in entries:
        names = [name for name in entry if IDENTIFYING & set(words_of(name)[-1:])]
        own = next((name for name in (*filter(is_opaque, names), *names) if len(words_of(name)) <= 2), "")  # noqa: PLR2004
        known = str(entry[own]) if own else content_key(dict(entry))
        seen[known] = seen.get(known, 0) + 1
        yield known if seen[known] == 1 else f"{known} ({seen[known]})", entry
