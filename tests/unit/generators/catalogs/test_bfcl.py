import json
from collections import Counter
from pathlib import Path
from typing import Any

from callwright.generators.catalogs import Catalog, read_catalog


def write(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


def function(name: str = "shapes.area", **properties: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": "Computes an area.",
        "parameters": {"type": "dict", "properties": properties, "required": list(properties)},
    }


def kinds(catalog: Catalog) -> Counter[str]:
    return Counter(problem.kind for problem in catalog.problems)


def test_the_published_questions_and_documents_are_read_whole(shared: Path) -> None:
    questions = read_catalog("bfcl", shared / "data" / "bfcl" / "questions")
    assert (questions.entries, len(questions.tools), questions.distinct) == (221, 177, 144)
    odd = {"doubted_rule", "duplicate_name", "unclear_tool", "untyped_parameter", "wrong_default"}
    assert set(kinds(questions)) == odd
    documents = read_catalog("bfcl", shared / "data" / "bfcl" / "multi_turn_func_doc")
    assert (documents.entries, len(documents.tools)) == (162, 162)
    assert set(kinds(documents)) == {"doubted_rule", "duplicate_name"}
    assert sum(tool.returns is not None for tool in documents.tools) == 161


def test_python_type_words_become_json_schema(tmp_path: Path) -> None:
    row = {
        "id": "simple_python_0",
        "function": [
            function(
                side={"type": "float"},
                size={"type": "tuple", "items": {"type": "integer"}},
                shape={"type": "dict", "properties": {"kind": {"type": "string"}}},
            )
        ],
    }
    catalog = read_catalog("bfcl", write(tmp_path / "BFCL_v4_simple_python.json", row))
    (tool,) = catalog.tools
    assert tool.properties == {
        "side": {"type": "number"},
        "size": {"type": "array", "items": {"type": "integer"}},
        "shape": {"type": "object", "properties": {"kind": {"type": "string"}}},
    }
    assert (tool.category, tool.source) == ("simple_python", "bfcl")
    assert not catalog.problems


def test_java_words_are_read_and_the_language_noted(tmp_path: Path) -> None:
    row = {
        "function": [
            function(options={"type": "HashMap"}, data={"type": "any"}, flag={"type": "Boolean"})
        ]
    }
    catalog = read_catalog("bfcl", write(tmp_path / "BFCL_v4_simple_java.json", row))
    (tool,) = catalog.tools
    assert tool.properties == {
        "options": {"type": "object"},
        "data": {},
        "flag": {"type": "boolean"},
    }
    assert tool.source == "bfcl:java"
    assert kinds(catalog) == {"untyped_parameter": 1}


def test_an_unknown_type_word_is_reported_and_left_open(tmp_path: Path) -> None:
    catalog = read_catalog(
        "bfcl", write(tmp_path / "q.json", {"function": [function(when={"type": "Instant"})]})
    )
    assert catalog.tools[0].properties == {"when": {}}
    assert kinds(catalog) == {"unknown_type": 1, "untyped_parameter": 1}


def test_the_same_document_is_one_tool_and_another_of_its_name_a_problem(tmp_path: Path) -> None:
    one, other = function(side={"type": "float"}), function(radius={"type": "float"})
    write(tmp_path / "a.json", {"function": [one]}, {"function": [one, other]})
    write(tmp_path / "b.json", {"function": [one]})
    catalog = read_catalog("bfcl", tmp_path)
    assert (catalog.entries, len(catalog.tools), catalog.distinct) == (4, 2, 1)
    assert kinds(catalog) == {"duplicate_name": 1}


def test_a_broken_line_is_reported_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text(json.dumps({"function": [function()]}) + "\n{broken\n[1]\n")
    catalog = read_catalog("bfcl", path)
    assert catalog.entries == 1
    assert [problem.where for problem in catalog.problems if problem.kind == "bad_json"] == [
        f"{path}:2"
    ]
    assert kinds(catalog)["other_format"] == 1
