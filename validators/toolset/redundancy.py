"""Tools of a category that do the same (HammerBench 4.2: distinct functions within each category).

Three signs are added up: the words of the names (those of one meaning count as one), the embeddings of the
descriptions, and the words of the parameters. Embeddings alone take "mute" and "unmute" for the same and weigh most on
the rest; so tools that do opposite things, or things of another kind, are apart before anything is added up
(docs/decisions/0007-tools-that-do-the-same.md has the figures).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from callwright.generators.tools import are_redundant
from callwright.language.names import humanise, split_name
from callwright.language.vocabulary import deep_stem, stem_groups
from callwright.validators.embeddings import near_pairs
from callwright.validators.toolset.actions import are_opposed, doing_of
from callwright.warehouse.records import DoubtedFact, Evidence, Tool, Verdict

CHECK = "tool_redundancy"
TWIN_DOUBTS = {
    "tools_alike": "{tool} does the same as {other}.",
    "tools_near": "{tool} may do the same as {other}.",
}
VERSION = "1"
NAME, DESCRIPTION, PARAMETERS = 0.15, 0.7, 0.15
ALIKE = 0.88  # from here on a tool is its neighbour again
IN_DOUBT = 0.66  # from here on people are asked
_NO_PARAMETERS = 0.5  # two tools without any are neither alike nor apart in them


class DuplicateTools(NamedTuple):
    """Two tools that might do the same, the earlier one first, and how alike they are in each sign, in 0..1."""

    one: Tool
    other: Tool
    name: float
    description: float
    parameters: float

    @property
    def likeness(self) -> float:
        """The signs added up."""
        return round(NAME * self.name + DESCRIPTION * self.description + PARAMETERS * self.parameters, 3)

    @property
    def are_alike(self) -> bool:
        """Whether they do the same, beyond doubt."""
        return self.likeness >= ALIKE or are_redundant(self.one, self.other)


def check_redundancy(tools: Sequence[Tool]) -> list[Verdict]:
    """Whether each tool does something that none before it in its category does; the first of its kind is in its place."""
    nearest: dict[str, DuplicateTools] = {}
    for duplicates in find_duplicate_tools(tools):
        known = nearest.get(duplicates.other.key)
        if known is None or (duplicates.are_alike, duplicates.likeness) > (known.are_alike, known.likeness):
            nearest[duplicates.other.key] = duplicates
    return [_verdict(tool, nearest.get(tool.key)) for tool in tools]


def find_duplicate_tools(tools: Sequence[Tool]) -> Iterator[DuplicateTools]:
    """Pairs of a category and language that do the same or might."""
    groups: dict[tuple[str, str], dict[str, Tool]] = defaultdict(dict)
    for tool in tools:
        groups[tool.category, tool.language][tool.key] = tool
    for group in groups.values():
        yield from _duplicates(list(group.values()))


def _duplicates(tools: list[Tool]) -> Iterator[DuplicateTools]:
    least = (IN_DOUBT - NAME - PARAMETERS) / DESCRIPTION
    found = {(one, other): near for one, other, near in near_pairs([_text(tool) for tool in tools], least)}
    for pair in _namesakes(tools):
        found.setdefault(pair, 0.0)
    for (first, second), near in sorted(found.items()):
        one, other = tools[first], tools[second]
        duplicates = DuplicateTools(
            one, other, _same_words(_name(one), _name(other)), near, _same_parameters(one, other)
        )
        is_doubtful = duplicates.likeness >= IN_DOUBT or duplicates.are_alike
        if one.name == other.name or (is_doubtful and not are_opposed(one, other)):
            yield duplicates


def _namesakes(tools: list[Tool]) -> Iterator[tuple[int, int]]:
    first: dict[str, int] = {}
    for place, tool in enumerate(tools):
        if tool.name in first:
            yield first[tool.name], place
        first.setdefault(tool.name, place)


def _text(tool: Tool) -> str:
    return tool.description.strip() or humanise(tool.name.rsplit(".", 1)[-1])


def _name(tool: Tool) -> frozenset[str]:
    return frozenset(map(meaning_of, doing_of(tool.name, tool.description).resource))


def _same_parameters(one: Tool, other: Tool) -> float:
    words, others = _parameter_words(one), _parameter_words(other)
    return _same_words(words, others) if words or others else _NO_PARAMETERS


def _parameter_words(tool: Tool) -> frozenset[str]:
    return frozenset(meaning_of(word) for name in tool.properties for word in split_name(name) if word != "name")


def _same_words(words: frozenset[str], others: frozenset[str]) -> float:
    union = words | others
    return len(words & others) / len(union) if union else 0.0


def meaning_of(word: str) -> str:
    """The word, or the number of its group in the thesaurus: words of one group mean much the same."""
    root = deep_stem(word)
    group = stem_groups().get(root)
    return root if group is None else str(group)


def _verdict(tool: Tool, duplicates: DuplicateTools | None) -> Verdict:
    if duplicates is None:
        return Verdict(subject=tool.key, check=CHECK, decision="proved", version=VERSION)
    does = "Does the same as" if duplicates.are_alike else "May do the same as"
    reason = (
        f"{does} {duplicates.one.name!r} ({duplicates.one.description.strip()}): names {duplicates.name:.0%} alike, descriptions "
        f"{duplicates.description:.0%}, parameters {duplicates.parameters:.0%}."
    )
    duplicate = Evidence(
        argument="twin", kind="normalised", quote=duplicates.one.name, path=duplicates.one.key, rule="twin"
    )
    fact = DoubtedFact(
        kind="tools_alike" if duplicates.are_alike else "tools_near", tool=tool.name, other=duplicates.one.name
    )
    decision = "contradicted" if duplicates.are_alike else "unproved"
    return Verdict(
        subject=tool.key, check=CHECK, decision=decision, score=duplicates.likeness, reason=reason, evidence=(duplicate,),
        doubts=(fact,), version=VERSION,
    )  # fmt: skip
