"""Apply the effects of calls (effects.py) to the things in a world's state (episodes.py).

A call that changes several things changes all of them, or is refused and changes none. In a
standing world, which builds use, changes leave things as they are, and created things can be
read by id.
"""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from callwright.generators.environments.effects import Ownership
from callwright.generators.environments.episodes import (
    START,
    Overlaid,
    RefusalError,
    ThingKey,
    WorldState,
)
from callwright.generators.environments.linking import (
    IDENTIFYING,
    is_opaque,
    subject_of_name,
    words_of,
)
from callwright.generators.environments.population import Thing, thing_made
from callwright.generators.environments.protocol import Effect
from callwright.generators.environments.results import AskedCall
from callwright.warehouse.records import Arguments, JsonSchema, content_key

_TRIES = 40


def answer_in(asked: AskedCall, state: WorldState) -> tuple[JsonValue, WorldState]:
    """Return the response to a call in a state, and the next state.

    Raises RefusalError if the call can't be done.
    """
    asked.see(state)
    effect = asked.effect
    if not asked.is_standing:
        _validate_references(asked, effect)
    if effect is None or effect.deed == "reads":
        response = asked.result()
        return response, asked.noted(state)
    if asked.is_standing and (effect.each or effect.links or effect.unlinks):
        return asked.result(), state
    deeds = [_Deed(asked, effect, given) for given in _given_to_each(asked, effect)]
    if effect.deletes:
        asked.subjects = [deed.meant_by(effect.kind, effect.id) for deed in deeds]
        response = asked.result()  # of what is deleted, as it was
        for deed, thing in zip(deeds, asked.subjects, strict=True) if not asked.is_standing else ():
            state = deed.delete(thing, state)
        return response, state
    for deed in deeds:
        state = deed.done(state)
    return asked.result(), state


def _given_to_each(asked: AskedCall, effect: Effect) -> Sequence[Arguments]:
    """Return the arguments for each thing in the call's list, merged with those around the list.

    Raises RefusalError if the list is missing or empty.
    """
    if not effect.each:
        return [asked.arguments]
    listed = asked.arguments.get(effect.each)
    if not isinstance(listed, list) or not listed:
        raise RefusalError(
            "invalid_value",
            f"Which {effect.kind} is meant is not said; {effect.each!r} lists none.",
        )
    around = {name: value for name, value in asked.arguments.items() if name != effect.each}
    return [
        around | (one if isinstance(one, dict) else {effect.id or effect.each: one})
        for one in listed
    ]


def _validate_references(asked: AskedCall, effect: Effect | None) -> None:
    """Refuse missing things: "not_found" for ids in the path, "invalid_value" in written data."""
    for reference in asked.references:
        value = asked.arguments.get(reference.parameter)
        is_written = (
            effect is not None and effect.deed != "reads" and reference.parameter != effect.id
        )
        names_another = reference.in_path or (is_written and is_opaque(reference.parameter))
        if value is None or reference.kind not in asked.kinds.fields or not names_another:
            continue
        if asked.find(reference.kind, *asked.field(reference), value) is None:
            message = f"There is no {reference.kind} {value!r}."
            raise RefusalError("not_found" if reference.in_path else "invalid_value", message)


class _Deed:
    """One effect of a call on one of its things; `given` are the arguments for that thing."""

    def __init__(self, asked: AskedCall, effect: Effect, given: Arguments) -> None:
        self._asked, self._effect, self._given = asked, effect, given

    def done(self, state: WorldState) -> WorldState:
        """Return the state after any effect but a deletion; a written thing becomes a subject."""
        if self._effect.creates:
            return self.create(state)
        if self._effect.links or self._effect.unlinks:
            return self.link(state)
        thing = self.meant_by(self._effect.kind, self._effect.id)
        if not self._asked.is_standing:
            thing, state = self.update(thing, state)
        self._asked.subjects.append(thing)
        return state

    def meant_by(self, kind: str, parameter: str) -> Thing:
        """Return the thing whose id a parameter gives. Raises RefusalError if there is none."""
        asked_call, value = self._asked, self._given.get(parameter)
        reference = asked_call.kinds.reference(asked_call.endpoint, parameter)
        if reference is not None and reference.kind == kind:
            field, schema = asked_call.field(reference)
        else:
            field = asked_call.kinds.identities.get(kind, parameter)
            schema = asked_call.field_schema(kind, field)
        meant_thing = asked_call.find(kind, field, schema, value)
        if value is None and not asked_call.is_standing:
            raise RefusalError(
                "invalid_value", f"Which {kind} is meant is not said; {parameter!r} is needed."
            )
        if meant_thing is None and asked_call.is_standing:
            value = asked_call.call.key if value is None else value  # for builds any id is known
            return thing_made(kind, value, {field: value})
        if meant_thing is None:
            in_path = reference is not None and reference.in_path
            is_written = (self._effect.links or self._effect.unlinks) and not in_path
            raise RefusalError(
                "invalid_value" if is_written else "not_found", f"There is no {kind} {value!r}."
            )
        return meant_thing

    def create(self, state: WorldState) -> WorldState:
        """Create a thing from the arguments."""
        asked_call, effect, kind = self._asked, self._effect, self._effect.kind
        field, given_fields = asked_call.kinds.identities.get(kind) or "id", self._written()
        if effect.id and effect.id in self._given:
            given_fields[field] = self._given[effect.id]
        self._validate_entry(kind, field)
        self._validate_unique(kind, given_fields, None)
        told = content_key(given_fields)
        counter = f"{kind} {told}"
        if field not in given_fields:
            given_fields[field] = self._new_id(
                kind, field, f"{told}:{state.counters.get(counter, 0)}"
            )
        if not asked_call.is_standing:
            state = state.counted(counter)
            first = {  # the default, or the first of a few choices ("open", not "delivered")
                name: schema.get("default", (schema.get("enum") or [None])[0])
                for name, schema in asked_call.kinds.fields.get(kind, {}).items()
                if name not in given_fields and ("default" in schema or schema.get("enum"))
            }
            given_fields = {**first, **given_fields}
        key = ThingKey(kind, str(given_fields[field]))
        state = state.with_thing(key, Overlaid(None, given_fields))
        asked_call.subjects.append(thing_made(*key, given_fields))
        asked_call.see(state)
        return state

    def _validate_entry(self, kind: str, field: str) -> None:
        """Refuse a list entry that names a thing that does not exist."""
        asked_call = self._asked
        for name in self._given if self._effect.each else ():
            if name in asked_call.arguments or not is_opaque(name):
                continue
            subject = subject_of_name(name, kind)
            other = asked_call.kinds.named(subject.thing) if subject is not None else kind
            is_known = name == field or other == kind or other not in asked_call.kinds.fields
            if not is_known and asked_call.known(ThingKey(other, str(self._given[name]))) is None:
                raise RefusalError("invalid_value", f"There is no {other} {self._given[name]!r}.")

    def _new_id(self, kind: str, field: str, told: str) -> JsonValue:
        asked, schema = self._asked, self._asked.field_schema(kind, field)
        for attempt in range(_TRIES):
            value = asked.population.new_identity(kind, field, schema, after=f"{told}:{attempt}")
            if asked.is_standing or not self._was_given(kind, field, schema, value):
                return value
        raise RefusalError("conflict", f"There is no id left for another {kind}.")

    def _was_given(self, kind: str, field: str, schema: JsonSchema, value: JsonValue) -> bool:
        """Whether a thing has this id, or had it before."""
        at_first = self._asked.population.number_of(kind, field, schema, value) is not None
        return at_first or ThingKey(kind, str(value)) in self._asked.state.things

    def update(self, thing: Thing, state: WorldState) -> tuple[Thing, WorldState]:
        """Write the arguments to a thing; return the changed thing."""
        asked_call, written = self._asked, self._written()
        self._validate_unique(thing.kind, written, thing)
        overlaid = state.things.get(key := asked_call.key(thing)) or Overlaid({}, {})
        before, after = (
            None if overlaid.before is None else {**overlaid.before},
            {**(overlaid.after or {})},
        )
        for name, value in written.items():
            if before is None:  # it was made by a call
                after[name] = _merged(asked_call.value(thing, name), value)
                continue
            first = (
                before[name] if name in before else asked_call.value(thing._replace(given={}), name)
            )
            before[name], after[name] = first, _merged(after.get(name, first), value)
            if after[name] == first:
                del before[name], after[name]
        state = state.with_thing(key, Overlaid(before, after))
        asked_call.see(state)
        now = asked_call.current(thing._replace(given={} if not thing.id else thing.given))
        return now or thing, state

    def delete(self, thing: Thing, state: WorldState) -> WorldState:
        """Remove a thing together with its parts.

        Raises RefusalError if it has parts that the call may not remove.
        """
        asked_call = self._asked
        asked_call.see(state)
        stated = (
            () if self._effect.parts == "keeps" else asked_call.effects.parts.get(thing.kind, ())
        )
        parts = [
            part for one in stated for part in asked_call.belonging(one.kind, one.field, thing)
        ]
        if parts and self._effect.parts == "refuses":
            raise RefusalError("conflict", f"There is still a {parts[0].kind} of the {thing.kind}.")
        key = asked_call.key(thing)
        was_made = key in state.things and state.things[key].before is None
        first = None if was_made else {asked_call.kinds.identities.get(key.kind) or "id": key.id}
        state = self._unlinked(key, state.with_thing(key, Overlaid(first, None)))
        asked_call.see(state)
        for part in parts:
            if asked_call.known(asked_call.key(part)) is not None:
                state = self.delete(part, state)
        return state

    def _unlinked(self, thing: ThingKey, state: WorldState) -> WorldState:
        """Return the state without the links that calls have made to or from a thing."""
        for relation in self._asked.effects.relations.values():
            for key, one in [*state.things.items()]:
                if key.kind == relation.kind and thing in relation.ends(
                    one.after or one.before or {}
                ):
                    state = state.with_thing(key, Overlaid(None, None))
        return state

    def link(self, state: WorldState) -> WorldState:
        """Link a thing to an owner, or unlink it; an existing link stays as it is.

        Raises RefusalError for unlinking a thing that isn't linked, and ValueError for a link
        without an owner.
        """
        asked_call, effect = self._asked, self._effect
        relation = asked_call.effects.relation(effect, asked_call.endpoint)
        whose = asked_call.kinds.reference(asked_call.endpoint, effect.to)
        if relation is None or whose is None:
            raise ValueError(f"{asked_call.endpoint.tool.name} has a link without an owner")
        target, owner = self.meant_by(effect.kind, effect.id), self.meant_by(whose.kind, effect.to)
        key, ids = relation.link(asked_call.key(owner).id, asked_call.key(target).id)
        overlaid = state.things.get(key)
        at_first = self._belongs_at_first(relation, owner, target)
        is_there = at_first if overlaid is None else overlaid.after is not None
        if effect.unlinks and not is_there:
            raise RefusalError(
                "not_found",
                f"The {target.kind} {asked_call.key(target).id!r} is none of this {owner.kind}.",
            )
        if at_first == bool(effect.links):
            wanted = Overlaid(None, None)  # as at first
        else:
            wanted = Overlaid(ids, None) if at_first else Overlaid(None, ids)
        state = state.with_thing(key, wanted)
        asked_call.see(state)
        return state

    def _belongs_at_first(self, relation: Ownership, owner: Thing, target: Thing) -> bool:
        """Whether a thing belonged to another before any call, by lists or by a field."""
        asked_call, state = self._asked, self._asked.state
        asked_call.see(START)
        try:
            pairs = [(owner, target), (target, owner)]
            is_mutual = relation == asked_call.effects.relations.get((owner.kind, target.kind))
            for whose, which in pairs if is_mutual else pairs[:1]:
                if which.kind in [
                    kind for (one, _), kind in asked_call.kinds.lists.items() if one == whose.kind
                ]:
                    field = asked_call.kinds.field_naming(which.kind, whose.kind)
                    listed = asked_call.belonging(
                        which.kind, field, whose._replace(given={}), is_whole=False
                    )
                    if asked_call.key(which) in [asked_call.key(one) for one in listed]:
                        return True
            return asked_call.key(target).id in asked_call.held_ids(owner, relation)
        finally:
            asked_call.see(state)

    def _written(self) -> dict[str, JsonValue]:
        """Return the fields that the call writes to a thing."""
        given_fields = {
            field: self._given[name]
            for name, field in self._effect.fields.items()
            if name in self._given
        }
        return {**given_fields, **self._effect.sets}

    def _validate_unique(
        self, kind: str, given: Mapping[str, JsonValue], own: Thing | None
    ) -> None:
        """Refuse values taken by another thing of the kind: ids in paths and `unique` fields."""
        if self._asked.is_standing:
            return
        for name in dict.fromkeys((*self._asked.kinds.unique.get(kind, ()), *self._effect.unique)):
            if name in given and self._is_taken(kind, name, given[name], own):
                raise RefusalError(
                    "conflict", f"There is a {kind} with the {name} {given[name]!r} already."
                )

    def _is_taken(self, kind: str, name: str, value: JsonValue, own: Thing | None) -> bool:
        asked_call, schema = self._asked, self._asked.field_schema(kind, name)
        if name in self._effect.unique and not IDENTIFYING & set(words_of(name)[-1:]):
            others = [
                *asked_call.created(kind),
                *filter(None, map(asked_call.current, asked_call.population.everything(kind))),
            ]
            return any(
                asked_call.value(one, name) == value
                for one in others
                if own is None or one.number != own.number
            )
        holder = asked_call.find(kind, name, schema, value)
        was_deleted = (
            own is None
            and name == asked_call.kinds.identities.get(kind)
            and self._was_given(kind, name, schema, value)
        )
        return was_deleted or (holder is not None and (own is None or holder.number != own.number))


def _merged(held: JsonValue, given: JsonValue) -> JsonValue:
    """Return a field's value after part of it is written; objects are merged by member."""
    if isinstance(held, dict) and isinstance(given, dict):
        return {**held, **{name: _merged(held.get(name), value) for name, value in given.items()}}
    return given
