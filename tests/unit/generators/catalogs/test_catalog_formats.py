import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.generators.catalogs import FORMATS, Catalog, read_catalog
from callwright.generators.catalogs.documents import LARGEST
from callwright.warehouse.errors import CallwrightError, ConfigurationError

NAMES = """
    api_ports function functions tools result openapi paths /x/{y} get post parameters name description properties
    required type $ref items allOf anyOf inputSchema in multiple_tools single_tool messages requestBody responses 200
    content application/json schema enum nullable pattern outputSchema nextCursor operationId tags returnParameter
"""
KEYS = st.sampled_from(NAMES.split())
WORDS = st.sampled_from(
    [
        "",
        "string",
        "object",
        "array",
        "dict",
        "3.1.0",
        "#/paths",
        "#",
        "#/nowhere",
        "http://127.0.0.1:9/x",
        "path",
        "[",
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS
    | st.text()
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
SHAPED = st.one_of(
    JSON,
    st.fixed_dictionaries({"tools": st.lists(JSON, max_size=3)}),
    st.fixed_dictionaries({"api_ports": st.lists(JSON, max_size=3)}),
    st.lists(st.fixed_dictionaries({"multiple_tools": st.lists(JSON, max_size=3)}), max_size=3),
    st.lists(
        st.fixed_dictionaries({"name": JSON, "parameters": JSON}, optional={"description": JSON}),
        max_size=3,
    ),
    st.fixed_dictionaries(
        {
            "openapi": st.just("3.1.0"),
            "paths": st.dictionaries(
                WORDS, st.fixed_dictionaries({"post": JSON, "parameters": JSON}), max_size=2
            ),
        }
    ),
)


def catalog_or_reason(name: str, path: Path) -> Catalog | str:
    try:
        return read_catalog(name, path)
    except CallwrightError as error:
        return str(error)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "catalog.json"


@pytest.mark.parametrize("name", FORMATS)
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(value=SHAPED)
def test_any_json_value_is_read_or_explained(file: Path, name: str, value: object) -> None:
    file.write_text(json.dumps(value), encoding="utf-8")
    catalog = catalog_or_reason(name, file)
    if isinstance(catalog, str):
        assert str(file) in catalog
        return
    assert catalog.entries >= len(catalog.tools) >= catalog.distinct
    assert all(tool.parameters["type"] == "object" for tool in catalog.tools)
    assert all(set(tool.required) <= set(tool.properties) for tool in catalog.tools)
    assert catalog.tools or catalog.problems


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40, deadline=None)
@given(
    content=st.binary(max_size=60)
    | st.text(alphabet="{}[]&*:,-a1\n \"'<?!|", max_size=60).map(str.encode)
)
def test_any_bytes_are_read_or_explained(file: Path, name: str, content: bytes) -> None:
    file.write_bytes(content)
    catalog = catalog_or_reason(name, file)
    if not isinstance(catalog, str):  # several lines, each of them odd
        assert catalog.problems
        assert not catalog.tools


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_of_another_format_is_told_what_was_expected(name: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"swagger": "2.0", "info": {}}')
    with pytest.raises(ConfigurationError, match="is expected"):
        read_catalog(name, path)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "content",
    [
        b'{"tools": [',
        b"\xff\xfe{\x00}\x00",
        b"[" * 5000,
        b"[" * 90 + b"]" * 90,
        b"NaN",
        b"",
        b'"\\ud800"',
    ],
    ids=["cut", "utf-16", "open lists", "deep lists", "nan", "empty", "half a character"],
)
def test_broken_files_are_explained_with_their_path(
    name: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"broken\.json"):
        read_catalog(name, path)


def test_an_unknown_format_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"'swagger'.*bfcl, callnavi, hammerbench, mcp, openai, openapi"
    ):
        read_catalog("swagger", tmp_path)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(b'\xef\xbb\xbf[{"name": "tell_time", "description": "Tells the time."}]')
    assert [tool.name for tool in read_catalog("openai", path).tools] == ["tell_time"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bfcl", {"function": ["tell_time"]}),
        ("callnavi", {"api_ports": ["tell_time"]}),
        ("hammerbench", [{"multiple_tools": ["tell_time"]}]),
        ("mcp", {"tools": ["tell_time"]}),
        ("openai", ["tell_time"]),
    ],
)
def test_a_bare_name_is_no_tool(name: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    path.write_text(json.dumps(value))
    catalog = read_catalog(name, path)
    assert (catalog.entries, catalog.tools) == (1, ())
    assert "not_an_object" in {problem.kind for problem in catalog.problems}


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_beyond_all_measure_is_not_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(ConfigurationError, match=r"huge\.json is larger than 64 MiB"):
        read_catalog(name, path)
