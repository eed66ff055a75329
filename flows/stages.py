"""The table of stages: what each reads, who does it, and which section of the paper asks for it.

Families of samples, the toolset and the checks contribute their rows; here they are joined. The
runner, the Prefect flows, the command line, docs/stages.md and the tests all iterate over this
table.
"""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

from callwright.generators.kinds import FAMILIES
from callwright.generators.stages import Stage
from callwright.generators.toolset.steps import STAGES as TOOLSET_STAGES
from callwright.llm.prompts import own_prompts, prompt_texts, version_at
from callwright.validators.checks.complexity import check_scenario
from callwright.validators.checks.declaring import GROUP as CHECK_GROUP
from callwright.validators.checks.declaring import Check
from callwright.validators.checks.table import CHECKS, all_checks
from callwright.validators.reading.planting import STAGES as MEASURING_STAGES
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.rows import Row

_VERSION_BYTES = 6


def _before_making(stages: Iterable[Stage], checks: Sequence[Stage]) -> Iterator[Stage]:
    """Yield the stages, each preceded by the checks of its group on what it reads."""
    for stage in stages:
        yield from (
            check for check in checks if (check.group, check.reads) == (stage.group, stage.reads)
        )
        yield stage


class LandingStages(NamedTuple):
    """The names of the stages after the checks, which a whole build passes at once."""

    duplicates: str = "duplicates"
    review: str = "review"
    land: str = "land"


LANDING = LandingStages()
LANDING_GROUP = "landing"

_LANDING_STAGES = (
    Stage(
        LANDING.duplicates,
        LANDING_GROUP,
        "Is the sample unlike those before it?",
        "Sample",
        "Verdict",
        "HammerBench 5",
    ),
    Stage(
        LANDING.review,
        LANDING_GROUP,
        "Do people accept what a check could not prove?",
        "Sample",
        "Review",
        "HammerBench 4.2.1, 5",
    ),
    Stage(
        LANDING.land,
        LANDING_GROUP,
        "Keep each accepted sample once.",
        "Sample",
        "Acceptance",
        "HammerBench 5",
    ),
)


def all_stages() -> tuple[Stage, ...]:
    """Return the table: the stages of all families and the checks, in order."""
    return _stages_of(FAMILIES.version, CHECKS.version)


@cache
def _stages_of(*_versions: int) -> tuple[Stage, ...]:
    making = (stage for family in FAMILIES.rows() for stage in family.stages)
    made = _before_making(making, (check_scenario,))
    return (*TOOLSET_STAGES, *made, *all_checks(), *MEASURING_STAGES, *_LANDING_STAGES)


def stage_named(name: str) -> Stage:
    """Return the stage with this name. Raises ConfigurationError that lists the names."""
    for stage in all_stages():
        if stage.name == name:
            return stage
    known = ", ".join(stage.name for stage in all_stages())
    raise ConfigurationError(f"There is no stage {name!r}; the stages are {known}.")


def stage_names() -> tuple[str, ...]:
    """Return the names of all stages, in order."""
    return tuple(stage.name for stage in all_stages())


def stages_of(group: str, only: Collection[str] = ()) -> tuple[Stage, ...]:
    """The stages of a group, in order; of them `only` those of these names, where any are given.

    Raises ConfigurationError that lists the groups there are.
    """
    group_stages = tuple(stage for stage in all_stages() if stage.group == group)
    if not group_stages:
        known = ", ".join(dict.fromkeys(stage.group for stage in all_stages()))
        raise ConfigurationError(f"There is no group of stages {group!r}; the groups are {known}.")
    return tuple(stage for stage in group_stages if stage.name in only) if only else group_stages


def prompt_paths() -> dict[str, str]:
    """Return all stages' prompts by name, with their files' paths from the packages' top."""
    paths = {path for stage in all_stages() for path in stage.templates}
    return {path.rpartition("/")[2].removesuffix(".j2"): path for path in sorted(paths)}


def todays_checks(own: Mapping[str, str]) -> dict[str, str]:
    """Return the versions of all sample checks in order, with a recipe's own prompts."""
    with own_prompts(own):
        return {check.name: version_of(check) for check in stages_of(CHECK_GROUP)}


def version_of(stage: Stage) -> str:
    """Return a stage's version: those of its code and prompts.

    Code counts if the stage is a check, and the content of a recipe's own file counts. A check
    that asks about the rest is asked anew if an earlier check may leave something else open.
    """
    version = stage.version if isinstance(stage, Check) else ""
    source = CHECKS.source_of(stage.name) if stage in all_checks() else None
    content = (source.digest,) if source else ()
    own = "+".join((version, *content, *map(version_at, stage.templates)))
    if not isinstance(stage, Check) or not stage.only_rest:
        return own
    checks = all_checks()
    earlier = (one for one in checks[: checks.index(stage)] if one.settles and one.sort == "rule")
    before = [f"{one.name}={one.version}" for one in earlier]
    return f"{own}+{blake2b(' '.join(before).encode(), digest_size=_VERSION_BYTES).hexdigest()}"


def prompt_rows(own: Mapping[str, str] | None = None) -> list[Row]:
    """Return the rows of the prompt table: each prompt's text by version, with a recipe's `own`."""
    now = datetime.now(UTC)
    with own_prompts(own or {}):
        texts = prompt_texts(("callwright.generators", "callwright.validators"))
        return [prompt._asdict() | {"used_at": now} for prompt in texts]


def stage_rows() -> list[Row]:
    """Return the table's rows for the warehouse, for views to order by."""
    return [
        {
            "name": stage.name,
            "position": position,
            "stage_group": stage.group,
            "source": stage.source,
            "role": stage.role or "",
            "settles": list(stage.settles) if isinstance(stage, Check) else [],
            "is_left_to_readers": isinstance(stage, Check) and stage.left_to == "readers",
        }
        for position, stage in enumerate(all_stages())
    ]


_HEAD = """# The stages

`make docs` writes this page from the table in `flows/stages.py`.

A record passes through the stages of its group in order. At every stage, entered = passed + rejected + failed + waiting; the table `outcomes` has the
reasons, the view `funnel` the counts. A check passes on a sample that it proves or can't prove (*unproved*, which the stage `review` asks people about); a
*contradicted* sample goes to people at once. The check `scenario` runs before anything is made and rejects what it can't prove. The stages of the group
`measuring` read some accepted samples again, to measure the readers.
"""  # noqa: E501


def stage_page() -> str:
    """Return docs/stages.md: `python -m callwright.flows.stages > docs/stages.md` writes it."""
    lines = [_HEAD]
    for group in dict.fromkeys(stage.group for stage in all_stages()):
        columns = "| stage | reads | yields | role | prompts | source | what it does |"
        lines += [f"\n## {group}\n", columns, f"|{'---|' * 7}"]
        for group_stage in stages_of(group):
            prompts = ", ".join(f"`{path}`" for path in group_stage.templates)
            cells = (
                f"`{group_stage.name}`",
                group_stage.reads,
                group_stage.yields,
                group_stage.role or "",
                prompts,
                group_stage.source,
                group_stage.about,
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(stage_page())
