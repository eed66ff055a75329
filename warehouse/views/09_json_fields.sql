-- The fields of a JSON object as a map: a name that somebody else has chosen never stands in a path, where `$`, `/` and `*` mean something.
create or replace macro json_fields(object) as try_cast(object as map(varchar, json));
-- What is known of a sample under a name: its body has `facts`, the bodies of earlier versions texts "name=value" in `tags`; null where neither has it.
create or replace macro sample_fact(body, name) as coalesce(
    body ->> ('$.facts.' || name),
    list_filter(json_extract_string(body, '$.tags[*]'), lambda tag : starts_with(tag, name || '='))[1][length(name) + 2 :]
);
