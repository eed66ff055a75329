"""What a recipe demands: counts by kind, language and place, plan orders, and what fails."""

from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import NamedTuple

from callwright.flows.recipe import Recipe
from callwright.generators.families import Family, Kind, LeftOut, Order, ignore, told_of
from callwright.generators.kinds import family_of, kind_named, waves_of
from callwright.generators.own_values import OwnValues
from callwright.generators.taken import CALL, CALLS, CONVERSATION
from callwright.language.packs import has_folder, known, of
from callwright.llm.models import reads_language
from callwright.llm.tool_sentences import tools_without_sentences
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Language, Tool

_NAMED = 3


class Demand(NamedTuple):
    """How many samples of a kind and language are asked for, planned, and passed so far.

    `place` is the domain of kinds that are spread over domains, the complexity of conversations,
    "" for others.
    """

    kind: Kind
    language: Language
    asked: int
    planned: int = 0
    passed: int = 0
    place: str = ""

    def plan_until(self, spare: float) -> int:
        """Return how many to plan in all; up to a `spare` share may replace those not passed."""
        if self.planned < self.asked:
            return self.asked
        most = self.asked + ceil(self.asked * spare)
        return max(self.planned, min(most, self.planned + self.asked - self.passed))


def waves(recipe: Recipe) -> list[list[str]]:
    """Return the names of the kinds made together, by wave; what is taken from files is first."""
    taken = [[CALL, CALLS, CONVERSATION]] if recipe.sources else []
    return [*taken, *([kind.name for kind in wave] for wave in waves_of(recipe.samples))]


def shares(
    recipe: Recipe, tools: Sequence[Tool], leave_out: Callable[[LeftOut], None] = ignore
) -> Iterator[Demand]:
    """Yield every kind's count, divided over the languages and over its family's places.

    A kind for which the tools have no place is left out, and so are languages for which its
    family has no words.
    """
    for name, count in recipe.samples.items():
        kind, family = kind_named(name), family_of(name)
        try:
            family_shares = [*family.shares(kind, count, recipe.languages, tools)]
        except Exception as error:  # noqa: BLE001 - what goes wrong costs one kind
            leave_out(LeftOut(name, told_of(error), samples=count))
            continue
        for share in family_shares:
            reason = _wordlessness(recipe, family, share.language)
            if share.samples and reason:
                leave_out(
                    LeftOut(kind.name, reason, share.language, share.place, samples=share.samples)
                )
            else:
                yield Demand(kind, share.language, share.samples, place=share.place)


def _wordlessness(recipe: Recipe, family: Family, language: Language) -> str:
    """Return why samples of a family can't be worded in a language, or "" if they can."""
    if has_folder(language):
        return ""
    name, generator = of(language).name, recipe.models.generator.name
    if not reads_language(generator):
        return (
            f"{generator} writes {', '.join(of(one).name for one in known())}, not {name}. Set"
            f" models.generator to a language model, or remove {language!r} from languages."
        )
    if family.has_fixed_words:
        return (
            f"The kinds of the family {family.name!r} hold turns in words of callwright's own,"
            f" which it has in {', '.join(known())} and not in {language!r} ({name}). Ask for"
            " other kinds in it."
        )
    return ""


def told_of_brought(recipe: Recipe) -> Iterator[str]:
    """Yield a sentence for each kind that is built because others are made from it."""
    for name, count in recipe.brought.items():
        users = [
            kind
            for kind, asked in recipe.samples.items()
            if asked and name in kind_named(kind).sources
        ]
        added = count_of(count, f"{name} sample is", f"{name} samples are")
        yield f"{added} added, because {' and '.join(users)} samples are made from them."


def validate_it_can_be_planned(recipe: Recipe, tools: Sequence[Tool]) -> None:
    """Raise ConfigurationError if nothing at all can be planned, before anything is written.

    Reasons that cost only a kind or a tool are reported during planning.
    """
    refused: list[LeftOut] = []
    is_planned = False
    for demand in shares(recipe, tools, refused.append):
        if demand.asked:
            generator = recipe.models.generator.name
            if not reads_language(generator):
                _validate_is_spoken(recipe, demand.language, tools)
            if demand.kind.sources:
                continue  # made of others
            left_out = refusal(recipe, demand, tools)
            refused += [left_out] if left_out else []
            is_planned |= left_out is None
    if refused and not is_planned:
        raise ConfigurationError(refused[0].reason)


def _validate_is_spoken(recipe: Recipe, language: Language, tools: Sequence[Tool]) -> None:
    """Raise ConfigurationError if template/v1 lacks words in a language for some tools."""
    spoken = sorted({tool.language for tool in tools})
    if language in spoken:
        return
    lacking = tools_without_sentences(tools, language, recipe.sentence_files)
    if lacking:
        only = ""
        if len(lacking) < len(tools):
            only = (
                f" that have no sentences in it, {', '.join(one.name for one in lacking[:_NAMED])}"
            )
            only += f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
        raise ConfigurationError(
            f"{recipe.models.generator.name} can't write requests in {language!r} for tools in"
            f" {', '.join(spoken) or 'no language'}{only}, because it only repeats the words of"
            f" their documents. Bring sentences for these tools (NAME.{language}.yaml), set"
            f" models.generator to a language model, or remove {language!r} from languages."
        )


def refusal(recipe: Recipe, demand: Demand, tools: Sequence[Tool]) -> LeftOut | None:
    """Return why the tools allow no sample of a demand, or None if they allow one.

    Demands that need an environment are not examined.
    """
    family, missed = family_of(demand.kind.name), list[LeftOut]()
    order = order_of(recipe, demand._replace(asked=1), tools)._replace(leave_out=missed.append)
    try:
        planned = family.plan(order) if family.plan else None
        if not isinstance(planned, Iterator) or next(planned, None) is not None:
            return None
        reason = missed[-1].reason if missed else "Nothing can be planned."
    except Exception as error:  # noqa: BLE001 - what goes wrong costs one kind
        reason = told_of(error)
        if missed:
            left_out = count_of(len(missed), "tool is", "tools are")
            reason += f" {left_out} left out; {missed[0].tool!r} because: {missed[0].reason}"
    return LeftOut(demand.kind.name, reason, demand.language, demand.place, samples=demand.asked)


def order_of(recipe: Recipe, demand: Demand, tools: Sequence[Tool]) -> Order:
    """Return the order for a demand."""
    return Order(
        demand.kind,
        demand.language,
        demand.place,
        demand.asked,
        tools,
        recipe.seed,
        recipe.candidates_per_sample,
        recipe.variants,
        OwnValues(recipe.own_values),
        0 if recipe.worlds == "per task" else recipe.worlds,
        value_sets=recipe.value_sets,
    )
