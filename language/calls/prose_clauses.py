"""Read clauses of prose into rules about parameters: a function a shape of the grammar."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import permutations

from pydantic import JsonValue

from callwright.language.calls.prose_objects import Condition, ObjectRules, pattern
from callwright.language.schemas import choices_of, json_type
from callwright.warehouse.records import JsonSchema


def _kept(added: Iterable[bool]) -> bool:
    """Whether any of several rules is kept; each is tried."""
    return sum(added) > 0


def _reads_required(rules: ObjectRules, clause: str) -> bool:
    if found := pattern("required").fullmatch(clause):
        name = rules.subject(found["who"])
        return bool(name) and rules.demand([name])
    if found := pattern("required_names").fullmatch(clause):
        listed = found["names"] or found["both"]
        if re.search(r"\bor\b|/", listed):
            return rules.group(rules.names(listed), least=1, most=None)
        return rules.demand(rules.names(listed))
    return False


def _reads_needed_if(rules: ObjectRules, clause: str) -> bool:
    found = pattern("needed_if").fullmatch(clause)
    name = rules.subject(found["who"]) if found else ""
    if found and name and (lacking := pattern("lacking_all").fullmatch(found["condition"])):
        return rules.group([name, *rules.names(lacking[0])], least=1, most=None)
    condition = rules.condition(found["condition"]) if found else None
    if found is None or not name or condition is None:
        return False
    if found["if"].lower() in ("with", "to", "for") and name in condition.names:
        return False
    if found["if"].lower() == "unless":
        condition = condition._replace(is_negated=not condition.is_negated)
    tail = (found["tail"] or "").lower()
    if (
        "only if" in found["if"].lower()
        or found["and"]
        or re.match(r"(otherwise|not|ignored)\b.*", tail)
    ):
        rules.bind(name, condition)
    return rules.demand([name], condition)


def _reads_bound(rules: ObjectRules, clause: str) -> bool:
    found = pattern("bound").fullmatch(clause)
    name = rules.subject(found["who"]) if found else ""
    if found is None or not name:
        return False
    is_ban = pattern("banning").fullmatch(found["kind"]) is not None
    several = pattern("SEVERAL").fullmatch(found["condition"])
    conditions = (
        [Condition(one) for one in rules.names(found["condition"])]
        if several and is_ban
        else [rules.condition(found["condition"])]
    )
    if found["if"].lower() == "unless":
        conditions = [one and one._replace(is_negated=not one.is_negated) for one in conditions]
    known = [one for one in conditions if one is not None and name not in one.names]
    return _kept((rules.ban if is_ban else rules.bind)(name, one) for one in known)


def _reads_led(rules: ObjectRules, clause: str) -> bool:
    """Read a condition with its consequence behind a comma."""
    found = pattern("led").fullmatch(clause)
    condition = rules.condition(found["condition"] or found["without"]) if found else None
    if found is None or condition is None:
        return False
    if (found["if"] or "").lower() == "unless":
        condition = condition._replace(is_negated=not condition.is_negated)
    rest = found["rest"]
    if banned := pattern("banned").fullmatch(rest):
        return _kept(rules.ban(one, condition) for one in rules.names(banned[0]))
    if (stated := pattern("SET_TO").fullmatch(rest)) and _set_if(rules, stated, condition):
        return True
    needs = pattern("needs").fullmatch(rest)
    if needs is None or rest.strip() == needs["names"] or not pattern("demanding").search(rest):
        return False
    names = rules.names(needs["names"])
    if re.search(r"\bor\b", needs["names"]):
        branch = "else" if condition.is_negated else "then"
        any_of = {"anyOf": [{"required": [one]} for one in names]}
        return rules.add({"if": rules.holds(condition), branch: any_of})
    return rules.demand(names, condition)


def _set_if(rules: ObjectRules, found: re.Match[str], condition: Condition) -> bool:
    name = rules.name(found["name"])
    values = [*rules.values(found["values"], name)]
    if not values or name in condition.names or json_type(rules.properties[name]) == "array":
        return False
    stated: JsonSchema = {"const": values[0]} if len(values) == 1 else {"enum": values}
    branch = "else" if condition.is_negated else "then"
    return rules.add({"if": rules.holds(condition), branch: {"properties": {name: stated}}})


def _reads_set_if(rules: ObjectRules, clause: str) -> bool:
    found = pattern("set_if").fullmatch(clause)
    condition = rules.condition(found["condition"]) if found else None
    return found is not None and condition is not None and _set_if(rules, found, condition)


def _reads_group(rules: ObjectRules, clause: str) -> bool:
    """Read a choice of parameters, one of which is due."""
    found = pattern("group").fullmatch(clause)
    if found is None or not re.search(r"\bor\b|/|,", found["names"]):
        return False
    count = (found["count"] or "").lower()
    names = rules.names(found["names"])
    if re.search(r"\band\b", found["names"]) and count in ("", "either"):
        return False
    is_one = bool(found["not"] or found["but"]) or count.startswith(("exactly", "one and only"))
    is_most = count.startswith(("only", "at most"))
    is_due = any(pattern("demanding").search(found[one] or "") for one in ("demand", "asked"))
    if is_most:
        return rules.group(names, least=int(is_due and "only" in count), most=1)
    if is_one and (is_due or found["asked"]):
        return rules.group(names, least=1, most=1)
    return is_due and rules.group(names, least=1, most=1 if is_one else None)


def _reads_exclusive(rules: ObjectRules, clause: str) -> bool:
    found = pattern("exclusive").fullmatch(clause)
    if found is None:
        return False
    several = found["several"] or found["never"]
    if several:
        units = [rules.names(one) for one in pattern("unit").findall(several)]
        # `a/b` alone are two, beside others they are one
        return rules.exclude(units if len(units) > 1 else [[one] for one in units[0]])
    name = rules.subject(found["who"])
    others = [one for one in rules.names(found["names"]) if one != name]
    return bool(name) and _kept(rules.ban(name, Condition(one)) for one in others)


def _reads_with(rules: ObjectRules, clause: str) -> bool:
    """Read that a parameter goes with another one."""
    if found := pattern("jointly").fullmatch(clause):
        names = rules.names(found["names"])
        return _kept(rules.bind(one, Condition(other)) for one, other in permutations(names, 2))
    if found := pattern("also").fullmatch(clause):
        own, name = rules.subject(found["self"]), rules.name(found["name"])
        return bool(own) and own != name and rules.bind(own, Condition(name))
    found = pattern("with").fullmatch(clause)
    name = rules.subject(found["who"]) if found else ""
    condition = rules.condition(found["condition"]) if found else None
    if not name or condition is None or name in condition.names:
        return False
    return rules.bind(name, condition)


def _reads_either_unit(rules: ObjectRules, clause: str) -> bool:
    """Read a choice of which one, at least, is of several parameters together."""
    found = pattern("either_unit").fullmatch(clause)
    if found is None or not (found["asked"] or found["demand"]):
        return False
    units = [rules.names(found[one]) for one in ("first", "second")]
    if max(map(len, units)) == 1 or not {*units[0]}.isdisjoint(units[1]):
        return False
    return rules.add({"anyOf": [{"required": one} for one in units]})


def _reads_values(rules: ObjectRules, clause: str) -> bool:
    """Read which values a parameter takes."""
    found = pattern("one_of").fullmatch(clause)
    name = rules.subject(found["who"]) if found else ""
    if found is None or not name or not isinstance(rules.properties.get(name), dict):
        return False
    schema = rules.properties[name]
    stated = found["values"] or found["either"] or found["only"]
    values = [*rules.values(stated, name)]
    is_list = json_type(schema) == "array"
    if not values or (found["either"] and len(values) < 2) or json_type(schema) == "object":  # noqa: PLR2004
        return False
    if len({*choices_of(schema)} & {*map(_hashable, values)}) == len(choices_of(schema)) > 0:
        return False  # it repeats the schema
    if is_list:
        items = schema.get("items")
        return isinstance(items, dict) and rules.limit(name, {"items": {**items, "enum": values}})
    return rules.limit(name, {"enum": values})


def _hashable(value: JsonValue) -> str | int | float | bool | None:
    return value if not isinstance(value, dict | list) else None


_COUNTED = {
    word: at
    for at, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}


def _number(text: str) -> float | int:
    plain = text.replace(",", "").lower()
    if plain in _COUNTED:
        return _COUNTED[plain]
    return float(plain) if "." in plain else int(plain)


def _reads_bounds(rules: ObjectRules, clause: str) -> bool:
    """Read how much or how many a parameter takes."""
    if found := pattern("sign").fullmatch(clause):
        name = rules.subject(found["who"])
        is_number = bool(name) and json_type(rules.properties[name]) in ("integer", "number")
        words: JsonSchema = {"exclusiveMinimum": 0} if found["plus"] else {"minimum": 0}
        return is_number and "minimum" not in rules.properties[name] and rules.limit(name, words)
    for kind in ("range", "most", "least"):
        found = pattern(kind).fullmatch(clause)
        if found:
            stated = found.groupdict()
            named = stated.get("named")
            name = rules.name(named) if named else rules.subject(found["who"])
            numbers = [stated.get("least"), stated.get("most")]
            if stated.get("under"):
                numbers[1] = str(_number(numbers[1] or "") - 1)
            return bool(name) and _bounded(rules, name, numbers, found["unit"].strip().lower())
    return False


_BOUNDS: Mapping[str, tuple[str, str]] = {
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
    "string": ("minLength", "maxLength"),
}


def _bounded(rules: ObjectRules, name: str, numbers: Sequence[str | None], unit: str) -> bool:
    schema = rules.properties[name]
    kind = json_type(schema) if isinstance(schema, dict) else ""
    is_of_text = unit.startswith(("char", "letter"))
    if (
        kind not in _BOUNDS
        or is_of_text != (kind == "string")
        or (unit and kind in ("integer", "number"))
    ):
        return False
    bounds = zip(_BOUNDS[kind], numbers, strict=True)
    words = {word: _number(one) for word, one in bounds if one is not None and word not in schema}
    if kind in ("array", "string") and not all(isinstance(one, int) for one in words.values()):
        return False  # "rates … between 0.01 and 0.99": of its entries, and no count of them
    return rules.limit(name, words)


def _reads_host(rules: ObjectRules, clause: str) -> bool:
    name = rules.subject(None)
    schema = rules.properties.get(name) if pattern("host").fullmatch(clause) else None
    if not isinstance(schema, dict) or json_type(schema) != "string":
        return False
    is_open = schema.keys().isdisjoint(("pattern", "format", "enum", "const"))
    return is_open and rules.limit(name, {"format": "hostname"})


def _reads_decimals(rules: ObjectRules, clause: str) -> bool:
    found = pattern("places_said").fullmatch(clause)
    schema = rules.properties.get(rules.subject(None)) if found else None
    if found is None or not isinstance(schema, dict):
        return False
    places = int(_number(found["count"]))
    if json_type(schema) == "number" and "multipleOf" not in schema:
        return rules.limit(rules.subject(None), {"multipleOf": 10**-places})
    if json_type(schema) == "string" and not schema.keys() & {"pattern", "format", "enum"}:
        digits = rf"^(0|[1-9][0-9]{{0,3}})\.[0-9]{{{places}}}$"
        return rules.limit(rules.subject(None), {"pattern": digits})
    return False


def _reads_lead(rules: ObjectRules, clause: str) -> bool:
    """Read "(Required)" before a description."""
    own = rules.subject(None)
    return bool(own) and bool(pattern("required_lead").match(clause)) and rules.demand([own])


READERS: tuple[Callable[[ObjectRules, str], bool], ...] = (
    _reads_lead,
    _reads_required,
    _reads_exclusive,
    _reads_group,
    _reads_either_unit,
    _reads_led,
    _reads_needed_if,
    _reads_bound,
    _reads_with,
    _reads_set_if,
    _reads_values,
    _reads_bounds,
    _reads_decimals,
    _reads_host,
)
