"""The only reader of YAML: safe, in C if installed, and bounded before anything is built.

Depth, and what aliases expand to, are counted on the parser's events, which need no stack for
either. Every problem is a yaml.YAMLError, with its line if it has one.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from callwright.warehouse.json_text import DEEPEST

if TYPE_CHECKING:
    import yaml

MOST_VALUES = 2_000_000  # with all aliases unfolded


def read_yaml(text: str, loader: "type[Any] | None" = None) -> Any:  # noqa: ANN401 - parsed YAML, typed by who asks for it
    """Return the content of a YAML text, read by a safe `loader`, by default the usual one.

    Raises yaml.YAMLError.
    """
    import yaml  # not above: who reads no YAML starts without it

    for _ in bounded_events(text):
        pass
    try:
        return yaml.load(text, loader or safe_loader())  # noqa: S506 - a safe loader
    except (
        ValueError,
        OverflowError,
        RecursionError,
    ) as error:  # a date that no calendar has, a number without end
        raise yaml.YAMLError(str(error)) from error


class ComposedYaml(NamedTuple):
    """The nodes of a YAML text with their places, None if it is empty, and their loader.

    The loader makes values of the nodes.
    """

    node: "yaml.Node | None"
    loader: "yaml.SafeLoader"


def compose_yaml(text: str) -> ComposedYaml:
    """Return the nodes of a YAML text. Raises yaml.YAMLError."""
    import yaml

    for _ in bounded_events(text):
        pass
    loader = yaml.SafeLoader(text)  # the one in Python: its places are exact
    return ComposedYaml(loader.get_single_node(), loader)


def safe_loader() -> Any:  # noqa: ANN401 - PyYAML's C loader has no types
    """Return PyYAML's fast safe loader, written in C, if it is installed, else the slow one."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def bounded_events(text: str) -> "Iterator[yaml.Event]":
    """Yield the events of a YAML text.

    Raises yaml.MarkedYAMLError if it exceeds a bound, and yaml.YAMLError if it is not YAML.
    """
    import yaml

    counted = _Counted()
    try:
        for event in yaml.parse(text, safe_loader()):
            counted.add(event)
            yield event
    except (ValueError, RecursionError) as error:  # signs that no text has
        raise yaml.YAMLError(str(error)) from error


class _Counted:
    """Counts of values, with depth, in each open list or mapping and behind each anchor."""

    def __init__(self) -> None:
        self._open: list[tuple[str | None, int, int]] = []  # anchor, values, levels within
        self._anchors: dict[str, tuple[int, int]] = {}

    def add(self, event: "yaml.Event") -> None:
        """Count one event. Raises yaml.MarkedYAMLError past a bound."""
        import yaml

        if isinstance(event, yaml.DocumentStartEvent):
            self._anchors = {}
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open.append((event.anchor, 1, 1))
            if len(self._open) > DEEPEST:
                raise _fault(event, f"it is nested more than {DEEPEST} levels deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close(event, *self._open.pop())
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor in (anchor for anchor, _, _ in self._open):
                raise _fault(event, f"the alias {event.anchor!r} stands within what it names")
            # one without an anchor is told when composed
            self._close(event, None, *self._anchors.get(event.anchor or "", (1, 0)))
        elif isinstance(event, yaml.ScalarEvent):
            self._close(event, event.anchor, 1, 0)

    def _close(self, event: "yaml.Event", anchor: str | None, values: int, levels: int) -> None:
        """Add a complete value to the counts of its container."""
        if anchor is not None:
            self._anchors[anchor] = values, levels
        if len(self._open) + levels > DEEPEST:
            raise _fault(event, f"it is nested more than {DEEPEST} levels deep")
        if values > MOST_VALUES:
            raise _fault(event, f"its aliases unfold to more than {MOST_VALUES} values")
        if self._open:
            outer, held, within = self._open[-1]
            self._open[-1] = outer, held + values, max(within, levels + 1)


def _fault(event: "yaml.Event", problem: str) -> "yaml.MarkedYAMLError":
    import yaml

    return yaml.MarkedYAMLError(problem=problem, problem_mark=cast("yaml.Mark", event.start_mark))
