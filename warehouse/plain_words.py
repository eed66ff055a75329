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
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, yaml.MappingNode):
            waiting += [inner for pair in one.value for inner in pair]
        elif isinstance(one, yaml.SequenceNode):
            waiting += one.value
        elif one.tag == _BOOL and one.value.lower() not in _TRUTHS:
            one.tag = _TEXT


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
