"""Words that YAML 1.1 reads as booleans but recipes mean as words: on, off, yes, no."""

from typing import Any

import yaml

from callwright.warehouse.yaml_text import bounded_events, safe_loader

_BOOL, _TEXT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:str"
_TRUTHS = frozenset({"true", "false"})


def keep_words(node: yaml.Node | None) -> None:
    """Turn plain words below a node into texts unless they are `true` or `false` (YAML 1.2)."""
    waiting, seen = [node], set[int]()
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, yaml.MappingNode):
            waiting += [inner for pair in current.value for inner in pair]
        elif isinstance(current, yaml.SequenceNode):
            waiting += current.value
        elif current.tag == _BOOL and current.value.lower() not in _TRUTHS:
            current.tag = _TEXT


def read_with_words(text: str) -> Any:  # noqa: ANN401 - parsed YAML, typed by who asks for it
    """Return the content of a YAML text with such words kept. Raises yaml.YAMLError."""
    for _ in bounded_events(text):
        pass
    loader = safe_loader()(text)
    node = loader.get_single_node()
    keep_words(node)
    try:
        return loader.construct_document(node) if node else None
    except (ValueError, OverflowError, RecursionError) as error:  # a date that no calendar has
        raise yaml.YAMLError(str(error)) from error
