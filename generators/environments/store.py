"""An environment that remembers: each call is asked once, and its response stays what it was."""

import asyncio
from pathlib import Path

from generators.environments.protocol import Answer, Environment
from generators.environments.response_store import Description, Drift, Lapse, ResponseStore, call_key
from warehouse.records import Call, Link, Tool


class StoredEnvironment:
    """Stores every response of another environment. What passes (no connection, no time, a fault) is noted, not stored."""

    def __init__(
        self, inner: Environment, path: Path, description: Description | None = None, *, kept_as: str = ""
    ) -> None:
        """Open the store at `path`. `description` stands in for the tools and links of `inner`.

        `kept_as` is the name that the store knows it by, where its own name does not tell all that its answers depend on.
        """
        self.inner = inner
        self.kept_as = kept_as or inner.name
        self.store = ResponseStore(path)
        self._description = description or Description(inner.tools, inner.links)
        self._names = {tool.name for tool in self.tools}
        self._asking: dict[str, asyncio.Future[Answer]] = {}

    @property
    def name(self) -> str:
        """The name of the environment within."""
        return self.inner.name

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Its tools."""
        return self._description.tools

    @property
    def links(self) -> tuple[Link, ...]:
        """Its links."""
        return self._description.links

    @property
    def known_calls(self) -> tuple[Call, ...]:
        """Calls that are known to be answered: what people can ask for."""
        return self._description.calls

    async def answer(self, call: Call) -> Answer:
        """The stored response, or else what is answered now; asked once however many want it at the same time."""
        if call.tool not in self._names:
            return Answer(problem=f"{self.name} has no tool {call.tool!r} that may be called.")
        key = call_key(call)
        while (asking := self._asking.get(key)) is not None:
            await asyncio.wait([asking])
            if not asking.cancelled():
                return asking.result()
        known = self.store.get(self.kept_as, call)
        if known is not None:
            return known
        asking = self._asking[key] = asyncio.get_running_loop().create_future()
        try:
            answer = await self.inner.answer(call)
            answer = self._kept(call, answer)
            asking.set_result(answer)
        finally:
            asking.cancel()  # does nothing to one that ended
            del self._asking[key]
        return answer

    async def refresh(self, call: Call) -> Answer:
        """Ask again whatever is stored; where the answer differs it is re-recorded, and `drifted` tells of it."""
        answer = await self.inner.answer(call)
        if answer.passing:
            self.store.note_lapse(self.kept_as, call, answer.problem)
        else:
            self.store.renew(self.kept_as, call, answer)
        return answer

    async def refresh_all(self) -> list[Drift]:
        """Ask every stored call again; what has drifted by now."""
        for call in {stored.key: stored.call for stored in self.store.stored(self.kept_as)}.values():
            await self.refresh(call)
        return self.drifted()

    def drifted(self) -> list[Drift]:
        """The calls that were answered otherwise when they were asked again, with both times."""
        return self.store.drifts(self.kept_as)

    def lapses(self) -> list[Lapse]:
        """The calls that got no answer of their own, and why."""
        return self.store.lapses(self.kept_as)

    def redescribe(self, description: Description, basis: str) -> None:
        """Take other tools and links from now on, and keep them for those who open the store later."""
        self.store.describe(self.kept_as, basis, description)
        self._description = description
        self._names = {tool.name for tool in description.tools}

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def _kept(self, call: Call, answer: Answer) -> Answer:
        if not answer.passing:
            return self.store.put(self.kept_as, call, answer)
        self.store.note_lapse(self.kept_as, call, answer.problem)
        return answer
