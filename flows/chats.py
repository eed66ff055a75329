"""The models of a recipe, opened once a shard: one for each role, with ledger, limits and budget around it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from flows.recipe import Recipe
from flows.settings import secret
from flows.stages import Stage
from llm.asking import LedgeredChat
from llm.budget import Budget
from llm.ledger import Ledger
from llm.models import ModelSettings, open_chat
from warehouse.records import LlmCall


class Chats:
    """A chat a role."""

    def __init__(self, chats: dict[str, LedgeredChat], concurrency: int) -> None:
        """Take opened chats; `concurrency` is how many records are worth carrying at once."""
        self._chats = chats
        self.concurrency = concurrency

    def of(self, stage: Stage, record: Callable[[LlmCall], object]) -> LedgeredChat:
        """The chat of the stage's role, each call given to `record`; a stage without a role gets one it does not use."""
        return self._chats[stage.role or "generator"].for_stage(stage.name, record)


@asynccontextmanager
async def open_chats(recipe: Recipe, ledger_path: Path, *, build: str, spent: float) -> AsyncIterator[Chats]:
    """Open the recipe's models; those with the same settings are one model, with one set of limits."""
    ledger = Ledger(ledger_path)
    budget = Budget(recipe.budget, spent=spent)
    opened: list[tuple[ModelSettings, LedgeredChat]] = []
    roles = {name: getattr(recipe.models, name) for name in type(recipe.models).model_fields}
    unlogged: list[LlmCall] = []
    try:
        for settings in roles.values():
            if not any(settings == other for other, _ in opened):
                chat = open_chat(
                    with_secret(settings), ledger=ledger, budget=budget, record=unlogged.append, build=build
                )
                opened.append((settings, chat))
        concurrency = sum(settings.concurrency for settings, _ in opened)
        chats = {name: next(chat for one, chat in opened if one == settings) for name, settings in roles.items()}
        yield Chats(chats, concurrency)
    finally:
        for _, chat in opened:
            await chat.close()
        await ledger.close()


def with_secret(settings: ModelSettings) -> ModelSettings:
    """The settings with the key that their variable names, where they name one."""
    key = secret(settings.api_key_variable) if settings.api_key_variable else ""
    return settings.with_changes(api_key=SecretStr(key)) if key else settings
