"""What flows that run at the same time share: a model's requests in flight, by a global concurrency limit of Prefect's."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple

from flows.chats import distinct_models, roles_of
from flows.recipe import Recipe, Roles

_FORBIDDEN = str.maketrans(dict.fromkeys("/%&><", ":"))  # in the names of Prefect's limits


def limit_name(model: str) -> str:
    """The name of the limit that holds for a model in all flows: `openai:gpt-4o` for openai/gpt-4o."""
    return model.translate(_FORBIDDEN)


class Shared(NamedTuple):
    """What a flow keeps to besides its recipe: so many requests of a model in flight at most, by the model's name."""

    limits: dict[str, int]
    shards: int

    def of(self, recipe: Recipe) -> Recipe:
        """The recipe with no model faster than its limit."""
        models = {
            name: model.model_copy(update={"concurrency": self.limits.get(model.name, model.concurrency)})
            for name, model in roles_of(recipe)
        }
        return recipe.model_copy(update={"models": Roles(**models)})

    @asynccontextmanager
    async def within(self) -> AsyncIterator[None]:
        """Take a shard's part of each limit as soon as it is free; always in one order, so that no two wait for each other."""
        from prefect.concurrency.asyncio import concurrency

        async with AsyncExitStack() as taken:
            for model in sorted(self.limits):
                part = max(1, self.limits[model] // self.shards)
                await taken.enter_async_context(concurrency(limit_name(model), occupy=part))
            yield


async def shared_limits(recipe: Recipe, shards: int) -> Shared:
    """The limits that Prefect has for a recipe's models, none of them higher than the recipe's own, for so many shards at once."""
    from prefect import get_client
    from prefect.exceptions import ObjectNotFound

    found: dict[str, int] = {}
    async with get_client() as client:
        for model in distinct_models(recipe):
            try:
                limit = await client.read_global_concurrency_limit_by_name(limit_name(model.name))
            except ObjectNotFound:
                continue
            if limit.active:
                found[model.name] = min(limit.limit, max(model.concurrency, found.get(model.name, 1)))
    return Shared(found, shards)
