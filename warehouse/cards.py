"""The dataset card of a release: content, sources, checks, and what it must not be taken for."""

from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from callwright.warehouse.queries import sql
from callwright.warehouse.records import Release
from callwright.warehouse.releases import ReleaseState, verify_release
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse
from callwright.warehouse.templates import sandbox

_FEW = 30  # samples of a kind and language; scores of fewer say little


class CardFacts(NamedTuple):
    """What the card says: counts by kind, language, category, split, grade, model and source.

    It also has builds, reviews and verdicts. The precision of a grade is the share of good
    samples among those of it that were drawn at random out of the builds, None if nobody looked;
    `readers` says how well the models read that judged samples of it. `reviewers` are those who
    judged samples of the release, `agreement` is how far reviewers agree in the warehouse, by
    kind of review. `metric` is how often people find the rule-based metric right about
    candidates' answers.
    """

    release: Release
    state: ReleaseState
    kinds: list[Row]
    categories: list[Row]
    splits: list[Row]
    builds: list[Row]
    grades: list[Row]
    readers: list[Row]
    models: list[Row]
    verdicts: list[Row]
    sources: list[Row]
    reviewers: list[Row]
    agreement: list[Row]
    metric: list[Row]
    duplicates: int
    withdrawn: int
    tools: int
    cheats: Sequence[Row]

    @property
    def licenses(self) -> list[str]:
        """The licences of the text that the recipes state, with "" if one states none."""
        return sorted({row["license"] for row in self.builds}) or [""]

    @property
    def limits(self) -> list[str]:
        """What the release must not be used for, one sentence each."""
        release, total = self.release, self.release.samples
        template = sum(row["samples"] for row in self.grades if row["of_template"])
        unchecked = sum(row["samples"] for row in self.grades if not row["grade"])
        graded = (row for row in self.grades if row["grade"])
        unmeasured = sorted({row["grade"] for row in graded if row["precision"] is None})
        few = [f"{row['kind']} in {row['language']}" for row in self.kinds if row["samples"] < _FEW]
        remarks = {
            f"{template} of {total} samples were worded, or where rules leave something open read, by code without weights: they are for trying out, not for training.": (  # noqa: E501
                template
            ),
            f"{unchecked} samples were imported as they are: no check has seen them.": unchecked,
            f"Nobody has looked at a random draw of what is {' or '.join(unmeasured)}: how often it is right is unknown.": (  # noqa: E501
                unmeasured
            ),
            f"Fewer than {_FEW} samples: {', '.join(few)}.": few,
            "It has no splits. A random split would part relatives, such as a dialogue and the request that it was made of.": (  # noqa: E501
                not release.splits
            ),
            "Near duplicates across splits are found by their words: paraphrases with other calls due are not.": (  # noqa: E501
                release.splits
            ),
            f"{self.duplicates} samples have a near duplicate in another split.": self.duplicates,
            f"{self.withdrawn} samples were taken back by people since it was frozen; they are still in it.": (  # noqa: E501
                self.withdrawn
            ),
            "Results of calls may be simulated: tools are run only where a recipe names an environment that does.": (  # noqa: E501
                True
            ),
        }
        return [sentence for sentence, holds in remarks.items() if holds]


_COUNTED = {
    "release",
    "state",
    "agreement",
    "metric",
    "duplicates",
    "tools",
    "cheats",
}  # by themselves
_SECTIONS = [name for name in CardFacts._fields if name not in _COUNTED]


def card_facts(warehouse: Warehouse, name: str, cheats: Sequence[Row] = ()) -> CardFacts:
    """Count what the release holds; `cheats` are what cheats earn in its tasks.

    Raises ConfigurationError for an unknown release.
    """
    with warehouse.reading_together():
        return _counted(warehouse, name, cheats)


def _counted(warehouse: Warehouse, name: str, cheats: Sequence[Row]) -> CardFacts:
    state = verify_release(warehouse, name)
    rows = {section: warehouse.rows(sql(f"cards.{section}"), [name]) for section in _SECTIONS}
    counted = "select count(*) as number from release_duplicates where release = ?"
    metric = "select * exclude (release) from metric_precision where release = ?"
    return CardFacts(
        release=state.release,
        state=state,
        tools=sum(row["tools"] for row in rows["sources"]),
        withdrawn=rows.pop("withdrawn")[0]["samples"],
        duplicates=warehouse.rows(counted, [name])[0]["number"],
        agreement=warehouse.rows(sql("cards.agreement")),
        metric=warehouse.rows(metric, [name]),
        cheats=cheats,
        **rows,
    )


def render_card(facts: CardFacts) -> str:
    """Return the card as Markdown, with a header in the form that dataset hubs read."""
    text = files("callwright.warehouse").joinpath("card.md.j2").read_text(encoding="utf-8")
    template = sandbox(trim_blocks=True, lstrip_blocks=True).from_string(text)
    return template.render(facts=facts).strip()
