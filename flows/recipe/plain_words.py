"""Words that YAML 1.1 reads as true and false, and that recipes mean as words: on, off, yes, no."""

import yaml

_BOOL, _TEXT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:str"
_TRUTHS = frozenset({"true", "false"})


def keep_words(node: yaml.Node | None) -> None:
    """Make texts of the plain words below a node that are not `true` or `false`, as YAML 1.2 has it."""
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
