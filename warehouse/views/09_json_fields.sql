-- The fields of a JSON object as a map: a name that somebody else has chosen never stands in a path, where `$`, `/` and `*` mean something.
create or replace macro json_fields(object) as try_cast(object as map(varchar, json));
