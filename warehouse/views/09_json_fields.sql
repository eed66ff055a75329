-- The fields of a JSON object as a map: a name that somebody else has chosen never stands in a path, where `$`, `/` and `*` mean something.
create or replace macro json_fields(object) as try_cast(object as map(varchar, json));
-- What is known of a sample under a name: its body has `facts`, the bodies of earlier versions texts "name=value" in `tags`; null where neither has it.
create or replace macro sample_fact(body, name) as coalesce(
    try_cast(body -> '$.facts' as map(varchar, json))[name] ->> '$',
    list_filter(json_extract_string(body, '$.tags[*]'), lambda tag : starts_with(tag, name || '='))[1][length(name) + 2 :]
);
-- A rule of evidence in words: the name that it is, the entry that it tells, or the call that feeds a value.
create or replace macro rule_words(rule) as case rule ->> '$.kind'
    when 'feed' then format('calls[{}].returns.{}', rule ->> '$.call', rule ->> '$.field')
    when 'entry' then concat(
        coalesce(nullif(rule ->> '$.field', ''), '""'), ' of ', coalesce(nullif(rule ->> '$.entries', ''), '""'),
        ': ' || nullif(array_to_string(list_append(list_transform(json_extract(rule, '$.where[*]'), lambda one : case
            when (one ->> '$.test') = 'only' then 'only entry'
            when (one ->> '$.test') in ('equals', 'contains') then concat_ws(' ', one ->> '$.field', one ->> '$.test', one -> '$.value')
            else concat_ws(' ', one ->> '$.test', one ->> '$.field') end), (rule ->> '$.later_by') || ' minutes later'), '; '), ''))
    else rule ->> '$' end;
