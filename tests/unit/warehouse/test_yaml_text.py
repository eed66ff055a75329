"""YAML of others: what is too deep or unfolds to too much is refused before anything is built of
it.
"""

from pathlib import Path

import pytest
import yaml

from callwright.flows.recipe.problems import YamlFault
from callwright.flows.recipe.problems import read_yaml as read_located
from callwright.flows.recipe.reading import read_recipe
from callwright.generators.catalogs.catalog import Problem
from callwright.generators.catalogs.documents import parse_json_or_yaml, parse_yaml
from callwright.generators.environments.rules import read_rules
from callwright.validators.metrics.callnavi.answers import YamlReply
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.json_text import DEEPEST
from callwright.warehouse.yaml_text import MOST_VALUES, compose_yaml, read_yaml

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{one}: &a{one} [{', '.join([f'*a{one - 1}'] * 10)}]\n" for one in range(1, 10)
)
TOWER = "a0: &a0 [x]\n" + "".join(f"a{one}: &a{one} [*a{one - 1}]\n" for one in range(1, 100))
DEEP = {
    "brackets": "a: " + "[" * 100_000,
    "closed brackets": "[" * 50_000 + "]" * 50_000,
    "braces": '{"a":' * 30_000,
    "dashes": "- " * 50_000 + "x",
    "questions": "? " * 50_000 + "x",
    "indents": "".join(f"{' ' * one}a:\n" for one in range(450)),
    "aliases": TOWER,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_is_nested_too_deeply_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(
        yaml.MarkedYAMLError, match=f"nested more than {DEEPEST} levels deep"
    ) as refused:
        read_yaml(text)
    assert refused.value.problem_mark is not None


def test_aliases_that_unfold_without_end_are_refused_with_their_line() -> None:
    with pytest.raises(
        yaml.MarkedYAMLError, match=f"unfold to more than {MOST_VALUES} values"
    ) as refused:
        read_yaml(LAUGHS)
    assert refused.value.problem_mark.line == 6


@pytest.mark.parametrize("text", ["&a [*a]", "&a {b: *a}", "a: &a\n  <<: *a\n"])
def test_what_stands_within_itself_is_refused(text: str) -> None:
    with pytest.raises(yaml.YAMLError, match="within what it names"):
        read_yaml(text)


@pytest.mark.parametrize(
    "text", ["2026-99-99", "a: \x07", "1" * 5_000, "!!python/object:os.system {}", "*a", "\ud800"]
)
def test_whatever_is_wrong_is_an_error_of_yaml(text: str) -> None:
    for read in (read_yaml, compose_yaml):
        try:
            read(text)
        except yaml.YAMLError:
            continue
        assert read is compose_yaml, "values are wrong, nodes may be right"


@pytest.mark.parametrize("text", [*DEEP.values(), LAUGHS])
def test_each_reader_of_documents_refuses_with_a_sentence(text: str, tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(text)
    with pytest.raises(YamlFault, match=r"nested more than|unfold to more than"):
        read_located(text)
    with pytest.raises(ConfigurationError, match=r"file\.yaml:\d+:\d+: is not valid YAML: it"):
        read_recipe(file)
    with pytest.raises(ConfigurationError, match=r"nested more than|unfold to more than"):
        read_rules(file)
    assert isinstance(parse_yaml(text, "a file"), Problem)
    assert isinstance(parse_json_or_yaml(text, "a file"), Problem)
    assert YamlReply(text).problem
