"""The environments that a release's multi-step samples were made in, opened again for those who call otherwise."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from pydantic import ValidationError

from flows.environments import open_environments
from flows.progress import Progress
from flows.recipe import Recipe
from flows.settings import Settings
from generators.environments.protocol import Environment
from warehouse.errors import ConfigurationError
from warehouse.store import Warehouse

_BUILDS = """
    select b.recipe, b.body from builds b where b.key in (
        select f.build from fates f join release_samples r on r.subject = f.subject join samples s on s.key = f.subject
        where r.release = ? and f.stage = 'land' and f.outcome = 'passed' and list_contains(?::varchar[], s.kind)
    ) order by b.started_at
"""


@contextmanager
def open_release_environments(
    warehouse: Warehouse, release: str, kinds: Sequence[str], settings: Settings, progress: Progress
) -> Iterator[Mapping[str, Environment]]:
    """The environments of the builds that made these kinds of samples, by name; of one name, the newest build's.

    One that can't be opened any more is told of and left out: its samples are evaluated without response matching.
    """
    environments: dict[str, Environment] = {}
    with ExitStack() as opened:
        for row in warehouse.rows(_BUILDS, [release, list(kinds)]):
            try:
                recipe = Recipe.model_validate_json(row["body"])
                environments |= opened.enter_context(open_environments(recipe, settings.home))
            except (ConfigurationError, ValidationError) as error:
                progress.say(
                    f"The environments of the recipe {row['recipe']!r} can't be opened ({error});"
                    " calls that differ from the gold are not compared by what they return."
                )
        yield environments
