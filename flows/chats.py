"""The models of a recipe, opened once for the shards of a process: one for each role, with
ledger, limits and budget.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import SecretStr

from callwright.flows.recipe import Recipe
from callwright.flows.settings import named_secret
from callwright.generators.stages import Stage
from callwright.llm.asking import LedgeredChat
from callwright.llm.ledger import Ledger
from callwright.llm.limits import Budget, Traffic
from callwright.llm.models import ModelSettings, Readiness, check_key, open_chat, reads_language
from callwright.llm.refusals import header_variables
from callwright.validators.checks.declaring import Check
from callwright.warehouse.errors import (
    BudgetError,
    CallwrightError,
    ConfigurationError,
    TransientError,
    UnavailableError,
)
from callwright.warehouse.records import LlmCall

FATAL = (BudgetError, ConfigurationError, UnavailableError)  # the next record would meet the same
Item = TypeVar("Item")
_BEGUN_AT_ONCE = 2  # items
AHEAD = (
    2  # records under way for each slot: while one waits for the ledger's disk, another one asks
)


class InFlight:
    """The items under way: at most so many at once, and none is begun where the next one would
    fare no better.
    """

    def __init__(self, places: int, patience: int) -> None:
        """Take `places` items at once; after `patience` of them in a row that no try helped,
        begin none.
        """
        self.error: CallwrightError | None = None
        self._places = asyncio.Semaphore(places)
        self._turn = (
            asyncio.Lock()
        )  # what is begun first ends first, and lands while the next ones are asked about
        self._patience = patience
        self._in_vain = 0  # in a row: the provider is away, not the item ill

    @property
    def is_in_vain(self) -> bool:
        """Whether the next item would fare no better."""
        return isinstance(self.error, FATAL) or self._in_vain >= self._patience

    async def carry(
        self, items: Iterable[Item], work: Callable[[Item], Awaitable[None]]
    ) -> CallwrightError | None:
        """Work the items, each read when its turn comes; the gravest error that left one of them
        undone.
        """
        errors: list[CallwrightError] = []
        try:
            async with asyncio.TaskGroup() as group, self._turn:
                async for item in self._in_places(items):
                    if self.is_in_vain:
                        self._places.release()
                        errors += [self.error] if self.error else []
                        break
                    group.create_task(self._carry_one(item, work, errors))
        except ExceptionGroup as raised:
            found = the_error_of(raised)
            if found is None:
                raise
            raise found from raised
        return max(errors, key=lambda error: isinstance(error, FATAL), default=None)

    async def _in_places(self, items: Iterable[Item]) -> AsyncIterator[Item]:
        """Each item once there is a place for it."""
        for number, item in enumerate(items):
            if number % _BEGUN_AT_ONCE == 0:
                await asyncio.sleep(0)  # the first ones ask while the next ones are made ready
            await self._places.acquire()
            yield item

    async def _carry_one(
        self, item: Item, work: Callable[[Item], Awaitable[None]], errors: list[CallwrightError]
    ) -> None:
        try:
            await work(item)
        except (TransientError, *FATAL) as error:
            errors.append(error)
            self._in_vain += 1
            self.error = self.error if isinstance(self.error, FATAL) else error
        else:
            self._in_vain = 0
        finally:
            self._places.release()


def the_error_of(errors: ExceptionGroup[Exception]) -> Exception | None:
    """The first error in a group of errors that can all be explained, None where one of them is
    a bug.
    """
    explained, bugs = errors.split((CallwrightError, OSError))  # a full disk is no bug
    if bugs is not None:
        return None
    error: Exception | None = explained
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


class Chats:
    """A chat a role, and what all that is carried with them has in common: what is under way,
    and the budget.
    """

    def __init__(self, chats: dict[str, LedgeredChat], concurrency: int, budget: Budget) -> None:
        """Take opened chats; `concurrency` is how many requests they send at once, `budget` what
        they spend.
        """
        self._chats = chats
        self.budget = budget
        self.in_flight = InFlight(AHEAD * concurrency, concurrency)

    def can_answer(self, stage: Stage) -> bool:
        """Whether the model of the stage's role can: template/v1 has no opinion of how people
        speak.
        """
        is_opinion = isinstance(stage, Check) and stage.sort == "opinion"
        return not is_opinion or reads_language(self._chats[stage.role or "generator"].name)

    def of(self, stage: Stage, record: Callable[[LlmCall], object]) -> LedgeredChat:
        """The chat of the stage's role, each call given to `record`; a stage without a role gets
        one it does not use.
        """
        return self._chats[stage.role or "generator"].for_stage(stage.name, record)

    def assistant_of(self, stage: Stage, record: Callable[[LlmCall], object]) -> LedgeredChat:
        """The chat of who talks with simulated users at a stage, each call given to `record`."""
        return self._chats.get("assistant", self._chats["generator"]).for_stage(stage.name, record)

    def settler_of(self, stage: Stage, record: Callable[[LlmCall], object]) -> LedgeredChat:
        """The chat of who settles what another model read at a stage, each call given to
        `record`.
        """
        return self._chats["judge"].for_stage(stage.name, record)


@asynccontextmanager
async def open_chats(  # noqa: PLR0913 - one argument for each thing that stands around the models
    recipe: Recipe,
    ledger_path: Path,
    *,
    build: str,
    spent: float,
    traffic: Traffic | None = None,
    open_one: Callable[..., LedgeredChat] = open_chat,
    there: list[ModelSettings] | None = None,
) -> AsyncIterator[Chats]:
    """Open the recipe's models; those with the same settings are one model, with one set of limits.

    Those whose server is known to be `there` are not looked at again.
    """
    ledger = await asyncio.to_thread(Ledger, ledger_path)  # its disk may be slow
    budget = Budget(recipe.budget, spent=spent)
    ready = Readiness(map(with_secret, distinct_models(recipe)), there)
    opened: list[tuple[ModelSettings, LedgeredChat]] = []
    unlogged: list[LlmCall] = []
    try:
        for settings in distinct_models(recipe):
            chat = open_one(
                with_secret(settings),
                ledger=ledger,
                budget=budget,
                record=unlogged.append,
                build=build,
                traffic=traffic,
                ready=ready.check,
            )
            opened.append((settings, chat))
        chats = {
            name: next(chat for one, chat in opened if one == settings)
            for name, settings in roles_of(recipe)
        }
        yield Chats(chats, concurrency_of(recipe), budget)
    finally:
        for _, chat in opened:
            await chat.close()
        await ledger.close()


class SharedChats:
    """The models of the shards that are under way in this process at the same time: a model's
    limits hold for all of them.
    """

    def __init__(
        self, traffic: Traffic | None = None, *, open_one: Callable[..., LedgeredChat] = open_chat
    ) -> None:
        """Nothing is open while no shard is under way; `traffic` counts the requests of all.

        `open_one` opens a model.
        """
        self._traffic = traffic
        self._open_one = open_one
        self._users = 0
        self._door = asyncio.Lock()
        self._opened = AsyncExitStack()
        self._chats: Chats | None = None
        self._spent: dict[str, float] = {}  # by build
        self._there: list[ModelSettings] = []

    @asynccontextmanager
    async def of(
        self, recipe: Recipe, ledger: Path, *, build: str, spent: float
    ) -> AsyncIterator[Chats]:
        """The chats, opened for the first shard and closed after the last; budget and error are
        those of all between.

        Shards that end at the same moment may not have stated yet what they spent, so what was seen
        here counts too.
        """
        if not self._users:
            self._door = asyncio.Lock()  # one of this event loop
        self._users += 1
        try:
            async with self._door:
                if self._chats is None:
                    spent = max(spent, self._spent.get(build, 0.0))
                    opening = open_chats(
                        recipe,
                        ledger,
                        build=build,
                        spent=spent,
                        traffic=self._traffic,
                        open_one=self._open_one,
                        there=self._there,
                    )
                    self._chats = await self._opened.enter_async_context(opening)
            yield self._chats
        finally:
            self._users -= 1
            if not self._users and self._chats is not None:
                self._spent[build] = self._chats.budget.spent
                opened, self._opened, self._chats = self._opened, AsyncExitStack(), None
                await opened.aclose()


def roles_of(recipe: Recipe) -> Iterator[tuple[str, ModelSettings]]:
    """The roles by name, each with its model; template/v1 has the sentences that the recipe
    brings.
    """
    own = {"sentences": recipe.sentence_files} if recipe.sentence_files else {}
    for name, model in recipe.models.named.items():
        yield name, model.with_changes(**own) if own and not reads_language(model.name) else model


def distinct_models(recipe: Recipe) -> list[ModelSettings]:
    """The recipe's models; roles with the same settings share one."""
    found: list[ModelSettings] = []
    for _, settings in roles_of(recipe):
        if settings not in found:
            found.append(settings)
    return found


def check_keys(recipe: Recipe) -> None:
    """Raise ConfigurationError where the key or the file of one of the recipe's models is
    missing; nobody is asked.
    """
    for settings in distinct_models(recipe):
        check_key(with_secret(settings), named_secret)


def concurrency_of(recipe: Recipe) -> int:
    """How many requests the recipe's models take at once, all together."""
    return sum(settings.concurrency for settings in distinct_models(recipe))


def with_secret(settings: ModelSettings) -> ModelSettings:
    """The settings with the key that their variable names, where they name one."""
    key = named_secret(settings.key_variable) if settings.key_variable else ""
    values = {name: SecretStr(named_secret(name)) for name in header_variables(settings.extra)}
    for name, value in values.items():
        if not value.get_secret_value():
            raise ConfigurationError(
                f"The environment variable {name} is not set. The extra_headers of {settings.name}"
                " use it."
            )
    changes = {"api_key": SecretStr(key)} if key else {}
    return settings.with_changes(**changes, header_values=values) if changes or values else settings
