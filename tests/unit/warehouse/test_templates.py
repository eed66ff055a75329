"""Templates and expressions that others write: they reach nothing of Python, and take no more
than a bound.
"""

import ast
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jinja2 import TemplateError, TemplateSyntaxError

from callwright.generators.environments.expressions import BUILT_IN, PLAIN, ExpressionCompiler
from callwright.llm.prompts import own_prompts, render, validate_own_prompt
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.templates import LARGEST, MOST_STEPS, BoundedSandbox

TOP = Path(__file__).parents[3]
FOLDERS = ("annotation", "flows", "generators", "language", "llm", "validators", "warehouse")
VALUES: dict[str, Any] = {
    **PLAIN,
    **BUILT_IN,
    "x": 5,
    "xs": list(range(1000)),
    "rng": Random(1),
    "word": "a",
}
ESCAPES = (
    "''.__class__.__mro__[1].__subclasses__()",
    "x|attr('__class__')",
    "[x]|map(attribute='__class__')|list|first|string",
    "'{0.__class__}'.format(x)",
    "'{a.__class__.__mro__}'.format_map({'a': x})",
    "chance.__globals__",
    "range.__init__.__globals__",
    "text.__self__",
    "(chance|attr('__globals__'))['os']",
    "rng.seed.__self__.__reduce__()",
    "xs.append(1)",
    "self.__init__.__globals__",
    "rng.setstate(())",
)
TOO_MUCH = (
    "10**(10**8)",
    "2**4097",
    "(2**4000) * (2**4000)",
    "'a' * 10**9",
    "[x] * 10**9",
    "('a' * 900000) + ('a' * 900000)",
    "('a' * 900000) ~ ('a' * 900000)",
    "'x'.rjust(10**9)",
    "'x'.center(10**9)",
    "'x'.zfill(10**9)",
    "'\t'.expandtabs(10**9)",
    "'ab'.replace('', 'b' * 1000000)",
    "'ab'|replace('', 'b' * 1000000)",
    "('y' * 900000).join(['a', 'b', 'c'])",
    "('y' * 900000).join(xs|map('string'))",
    "xs|join('y' * 900000)",
    "'%1000000000d' % x",
    "'%*d' % (1000000000, x)",
    "'{:>1000000000}'.format(x)",
    "'{:{w}}'.format(x, w=10**9)",
    "('{0}' * 100000).format('a' * 100000)",
    "range(10**9)",
    (
        "range(99999)|map('string')|map('list')|map('join')|map('string')|list + range(99999)|list"
        " * 90"
    ),
    "xs|select('in', range(99999)|list * 10)|list",
    "round(1, -(10**9))",
    "1.5|round(10**9)",
    "(5).to_bytes(10**9, 'big')",
    "rng.randbytes(10**9)",
    "rng.choices(xs, k=10**9)",
    "rng.sample([1], 10**9, counts=[10**9])",
    "sentences([], 5, rng)",
    "sentences(['a'], 10**9, rng)",
    "pairs(range(9999), range(9999))",
    "sum([xs] * 2000, [])",
    "([xs] * 2000)|sum(start=[])",
)


def files_with(word: str) -> list[Path]:
    every = (path for folder in FOLDERS for path in (TOP / folder).rglob("*.py"))
    return [path for path in every if word in path.read_text(encoding="utf-8")]


def evaluate(stated: Any) -> object:
    return ExpressionCompiler({"x", "xs", "rng", "word"}).compiled(stated, "rules.yaml, given")(
        dict(VALUES)
    )


@pytest.mark.parametrize("expression", ESCAPES)
def test_an_expression_reaches_nothing_of_python(expression: str) -> None:
    with pytest.raises(ConfigurationError, match="can't be worked out"):
        evaluate(expression)


@pytest.mark.parametrize(
    "name", ["lipsum", "cycler", "joiner", "environment", "open", "__import__"]
)
def test_an_expression_knows_no_names_but_those_of_rules(name: str) -> None:
    with pytest.raises(ConfigurationError, match="is known neither here nor everywhere"):
        evaluate(f"{name}.__init__.__globals__")


@pytest.mark.parametrize("expression", TOO_MUCH)
def test_an_expression_past_a_bound_is_named_with_the_bound(expression: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"^rules\.yaml, given: .+ can't be worked out \(.+\)\.$"
    ):
        evaluate(expression)


def test_lists_within_lists_are_counted_whole() -> None:
    doubled = {
        "let": {f"a{one}": f"[a{one - 1}, a{one - 1}]" if one else "['x']" for one in range(40)},
        "gives": "a39",
    }
    with pytest.raises(ConfigurationError, match=f"more than {LARGEST:,} entries"):
        evaluate(doubled)
    with pytest.raises(ConfigurationError, match="more than"):
        evaluate({"each": "xs", "as": "one", "show": "xs * 999"})


def test_a_list_that_is_gone_through_for_each_entry_of_another_has_an_end() -> None:
    with pytest.raises(ConfigurationError, match=f"more than {MOST_STEPS:,} steps"):
        evaluate(
            {
                "each": "range(99999)",
                "as": "a",
                "show": {"each": "range(99999)", "as": "b", "show": "0"},
            }
        )


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("x * 3 + 2 ** 10 % 1000", 39),
        ("[x] + [1] * 2", [5, 1, 1]),
        ("'%s and %05d' % (word, x)", "a and 00005"),
        ("'{:>3}{}'.format(x, word)", "  5a"),
        ("word ~ x ~ none", "a5None"),
        ("', '.join(['a', 'b'])|replace(',', ';')", "a; b"),
        ("round(2.567, 1)", 2.6),
        ("xs|sum + sum([1, 2])", 499503),
        ("[[1], [2]]|sum(start=[])", [1, 2]),
        ("xs|map('string')|list|length", 1000),
        ("pairs([1, 2], 'ab')", [(1, "a"), (1, "b"), (2, "a"), (2, "b")]),
        ("word.rjust(3) + {'a': x}.a|string", "  a5"),
        ("x in xs and 7 not in [x]", True),
    ],
)
def test_what_is_within_the_bounds_is_worked_out(expression: str, value: object) -> None:
    assert evaluate(expression) == value


RUNAWAY = (
    "{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    (
        "{% for a in range(9999)|map('string') %}{% for b in range(9999) %}{{ a }}{% endfor %}{%"
        " endfor %}"
    ),
    "{% for a in range(99999) %}" + "word " * 100 + "{% endfor %}",
    "{% set n = namespace(t='a') %}{% for a in range(99) %}{% set n.t = n.t ~ n.t %}{% endfor %}",
    (
        "{% set n = namespace(t='a') %}{% for a in range(99) %}{% set n.t = [n.t, n.t] %}{% endfor"
        " %}{{ n.t }}"
    ),
    (
        "{% set n = namespace(t=1) %}{% for a in range(99) %}{% set n.t = dict(a=n.t, b=n.t) %}{%"
        " endfor %}{{ n.t }}"
    ),
    "{% for a in [range(99)] recursive %}{{ loop(a) }}{% endfor %}",
    (
        "{% for a in range(999) %}{% set b %}{% for c in range(99999) %}x{% endfor %}{% endset %}{%"
        " endfor %}"
    ),
    "{{ 'x'|center(10**9) }}",
    "{{ lipsum(10**9) }}",
    "{{ cycler.__init__.__globals__.os.popen('true').read() }}",
    "{{ lipsum.__globals__ }}",
    "{{ self.__init__.__globals__ }}",
    "{{ self._TemplateReference__context.environment }}",
    "{{ ''.__class__.__mro__ }}",
    "{{ ''|attr('__class__') }}",
    "{{ '{0.__class__}'.format('') }}",
    "{{ 'x' * 10**9 }}",
    "{{ 10**(10**8) }}",
)


@pytest.mark.parametrize("text", RUNAWAY)
def test_a_template_of_others_escapes_nowhere_and_ends(text: str) -> None:
    with pytest.raises(TemplateError):
        BoundedSandbox().from_string(text).render()


@pytest.mark.parametrize("text", RUNAWAY)
def test_a_prompt_of_a_recipe_escapes_nowhere_and_ends(text: str) -> None:
    whole = f"--- user\n{text}\n"

    def used() -> None:
        validate_own_prompt("validators/prompts/answer_as_candidate.j2", whole)
        with own_prompts({"answer_as_candidate": whole}):
            render(
                "callwright.validators.prompts", "answer_as_candidate", tools=[], conversation=""
            )

    with pytest.raises(
        (ConfigurationError, ValueError), match=r"answer_as_candidate|is not Jinja|it asks for"
    ):
        used()


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in b %}" * 30 + "{% endfor %}" * 30,
        "{{ " + "(" * 9_000,
        "x" * 500_000,
        "{{ " + "9" * 5_000 + " }}",
    ],
)
def test_a_template_that_can_not_be_compiled_is_a_fault_of_its_syntax(text: str) -> None:
    with pytest.raises(TemplateSyntaxError):
        BoundedSandbox().from_string(text)


def test_a_prompt_includes_no_other_text() -> None:
    for text in (
        "{% include '/etc/passwd' %}",
        "{% set at = 'x' %}{% include at %}",
        "{% import 'x' as x %}",
    ):
        with pytest.raises(ValueError, match="includes another text"):
            validate_own_prompt("validators/prompts/answer_as_candidate.j2", f"--- user\n{text}\n")


def test_templates_within_the_bounds_are_rendered() -> None:
    text = (
        "{% macro shout(word) %}{{ word|upper }}!{% endmacro %}{% for name, value in given|dictsort"
        " %}{{ loop.index }}/{{ loop.length }} {{ shout(name) }} {{ value }}{{ ', ' if not"
        " loop.last }}{% else %}nothing{% endfor %}{% set both %}{{ given.a ~ given.b }}{% endset"
        " %} {{ both }} {{ (1, 2) in [(1, 2)] }} {{ given.items()|list|length }}"
    )
    template = BoundedSandbox().from_string(text)
    assert template.render(given={"a": 1, "b": [2]}) == "1/2 A! 1, 2/2 B! [2] 1[2] True 2"
    assert template.render(given={"a": "x" * 400_000, "b": ""}).count("x") == 800_000


def test_environments_of_jinja_are_made_in_one_place() -> None:
    made = {
        "Environment",
        "Template",
        "NativeEnvironment",
        "SandboxedEnvironment",
        "ImmutableSandboxedEnvironment",
    }
    found = set()
    for path in files_with("jinja2"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jinja2")
            for alias in node.names
            if alias.name in made
        }
        names |= {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
            if "jinja2" in alias.name
        }
        called = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        bases = {
            base.id
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
            for base in node.bases
            if isinstance(base, ast.Name)
        }
        if names & (called | bases) or any("jinja2" in name for name in names):
            found.add(path.relative_to(TOP).as_posix())
    assert found == {"warehouse/templates.py"}


def test_yaml_is_read_in_one_place() -> None:
    loads = {"load", "safe_load", "load_all", "safe_load_all", "compose", "parse", "scan"}
    found = {
        path.relative_to(TOP).as_posix()
        for path in files_with("yaml.")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "yaml"
        and node.attr in loads
    }
    assert found == {"warehouse/yaml_text.py"}
