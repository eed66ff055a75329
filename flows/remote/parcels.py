"""What travels to a worker elsewhere and back: a shard as a parcel, and what came of it as a result. Neither names a path."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from flows.chats import distinct_models, roles_of
from flows.recipe import Recipe, Roles
from flows.remote.exchange import Members
from flows.shards import Shard, ShardResult
from generators.environments.protocol import HttpSettings, RecordedSettings
from llm.ledger import answers_of, keep_answers
from llm.models import ModelSettings
from warehouse.batches import write_batch
from warehouse.errors import ConfigurationError

SOURCE, SHARD, RESULT, ANSWERS, PAID = "source.jsonl", "shard.json", "result.json", "answers.txt", "llm_calls.jsonl"
_PATHS = {"source", "target", "toolbox", "ledger"}


class Parcel(NamedTuple):
    """A shard on its way: its tools by name, packs of answers that may help, and how many seconds lie between signs of life."""

    shard: Shard
    toolbox: str
    known: tuple[str, ...]
    beat: float


def validate_it_can_travel(recipe: Recipe) -> None:
    """Raise ConfigurationError where a recipe needs files of this machine beside its records, as environments and batches do."""
    bound = [source for source in recipe.tools if isinstance(source, HttpSettings | RecordedSettings)]
    if bound:
        raise ConfigurationError(
            f"The recipe {recipe.name!r} has the environment {bound[0].name!r}, whose responses are kept in the work folder "
            "of this machine. Build it with CALLWRIGHT_WORKERS=local."
        )
    in_batches = [(role, model.name) for role, model in roles_of(recipe) if model.path == "batch"]
    if in_batches:
        role, name = in_batches[0]
        raise ConfigurationError(
            f"The recipe {recipe.name!r} asks its {role} {name!r} in batches, and what is under way of these is kept in the "
            "ledger of this machine. Build it with CALLWRIGHT_WORKERS=local, or set the model's transport to auto."
        )


def is_paid_for(recipe: Recipe) -> bool:
    """Whether a model of the recipe is asked elsewhere, so that its answers are worth more than the way."""
    return any(model.path != "in process" for model in distinct_models(recipe))


def content_name(shard: Shard) -> str:
    """The name of a shard by what is in it; the build stands for recipe, models, tools and prompts."""
    told = orjson.dumps([shard.build, shard.group, shard.then])
    return blake2b(told + shard.source.read_bytes(), digest_size=16).hexdigest()


def share_of(recipe: Recipe, slots: int, spent: float) -> Recipe:
    """The recipe for one of `slots` workers: all of them together keep the limits of its models, and its budget."""
    models = {name: _slower(model, slots) for name, model in roles_of(recipe)}
    budget = None if recipe.budget is None else spent + (recipe.budget - spent) / slots
    return recipe.model_copy(update={"models": Roles(**models), "budget": budget})


def _slower(model: ModelSettings, slots: int) -> ModelSettings:
    if model.path == "in process":
        return model
    limits = {name: getattr(model, name) for name in ("concurrency", "requests_per_minute", "tokens_per_minute")}
    return model.model_copy(update={name: max(1, most // slots) for name, most in limits.items() if most is not None})


def pack_parcel(parcel: Parcel) -> Members:
    """A parcel as the members of an object."""
    plain = {name: value for name, value in parcel.shard._asdict().items() if name not in {*_PATHS, "recipe"}}
    recipe = orjson.loads(parcel.shard.recipe.model_dump_json(by_alias=True))
    told = {"shard": plain, "recipe": recipe, "toolbox": parcel.toolbox, "known": parcel.known, "beat": parcel.beat}
    return {SHARD: orjson.dumps(told), SOURCE: parcel.shard.source.read_bytes()}


def unpack_parcel(members: Members, folder: Path, *, toolboxes: Path, ledger: Path) -> Parcel:
    """A parcel with its files in a worker's own folder."""
    told = orjson.loads(members[SHARD])
    source = folder / SOURCE
    source.write_bytes(members[SOURCE])
    shard = Shard(
        recipe=Recipe.model_validate_json(orjson.dumps(told["recipe"])),
        source=source,
        target=folder / "facts",
        toolbox=toolboxes / told["toolbox"],
        ledger=ledger,
        **told["shard"],
    )
    return Parcel(shard, told["toolbox"], tuple(told["known"]), told["beat"])


def pack_result(result: ShardResult, ledger: Path) -> Members:
    """What came of a shard as the members of an object: its facts, and the answers that it was given."""
    members: dict[str, bytes] = {file.name: file.read_bytes() for file in sorted(result.target.glob("*.jsonl"))}
    told = {name: value for name, value in result._asdict().items() if name != "target"}
    members[RESULT] = orjson.dumps(told)
    members[ANSWERS] = b"".join(answers_of(ledger, _asked(members.get(PAID, b""))))
    return members


def _asked(calls: bytes) -> Iterator[str]:
    for line in calls.splitlines():
        call: dict[str, Any] = orjson.loads(line)
        if not call["error"]:
            yield call["request"]


def unpack_result(members: Members, target: Path, *, name: str, build: str, ledger: Path) -> ShardResult:
    """What came of a shard, its facts in `target` under a name that lands once; the answers are in the ledger by then."""
    keep_answers(ledger, members[ANSWERS].splitlines())
    unfinished = target.with_name(f"{target.name}.unfinished")
    for stale in (target, unfinished):
        shutil.rmtree(stale, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for member, body in members.items():
        if member.endswith(".jsonl"):
            (unfinished / Path(member).name).write_bytes(body)
    _name_it(unfinished, name, build)
    unfinished.rename(target)
    return ShardResult(target, **orjson.loads(members[RESULT]))


def unpack_lost(notes: list[Members], target: Path, *, name: str, build: str, ledger: Path) -> None:
    """What is left of a shard whose worker is gone: its answers in the ledger, and what they cost, which lands once."""
    paid = b"".join(note[PAID] for note in notes)
    for note in notes:
        keep_answers(ledger, note[ANSWERS].splitlines())
    target.mkdir(parents=True)
    (target / PAID).write_bytes(paid)
    _name_it(target, name, build)


def _name_it(folder: Path, name: str, build: str) -> None:
    with suppress(FileNotFoundError):  # a worker does not name itself
        (folder / "landed_shards.jsonl").unlink()
    write_batch(folder / "landed_shards.jsonl", [{"name": name, "build": build, "landed_at": datetime.now(UTC)}])
