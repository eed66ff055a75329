-- The fields of a JSON object as a map: a name that somebody else has chosen never stands in a path, where `$`, `/` and `*` mean something.
create or replace macro json_fields(object) as try_cast(object as map(varchar, json));
-- What is known of a sample under a name: its body has `facts`, the bodies of earlier versions texts "name=value" in `tags`; null where neither has it.
create or replace macro sample_fact(body, name) as coalesce(
    body ->> ('$.facts.' || name),
    list_filter(json_extract_string(body, '$.tags[*]'), lambda tag : starts_with(tag, name || '='))[1][length(name) + 2 :]
);
-- A rule of evidence in words: the name that it is, the entry that it tells, or the call that feeds a value.
create or replace macro rule_words(rule) as case rule ->> '$.kind'
    when 'feed' then format('calls[{}].returns.{}', rule ->> '$.call', rule ->> '$.field')
    when 'entry' then concat(
        if(rule ->> '$.field' = '', '""', rule ->> '$.field'), ' of ', if(rule ->> '$.entries' = '', '""', rule ->> '$.entries'),
        if(rule -> '$.where' is null and rule -> '$.later_by' is null, '', ': '),
        array_to_string(list_transform(json_extract(rule, '$.where[*]'), lambda one : case one ->> '$.test'
            when 'only' then 'only entry'
            when 'equals' then format('{} equals {}', one ->> '$.field', (one -> '$.value')::varchar)
            when 'contains' then format('{} contains {}', one ->> '$.field', (one -> '$.value')::varchar)
            else concat(one ->> '$.test', ' ', one ->> '$.field') end), '; '),
        if(rule -> '$.where' is null or rule -> '$.later_by' is null, '', '; '), (rule ->> '$.later_by') || ' minutes later')
    else rule ->> '$' end;
