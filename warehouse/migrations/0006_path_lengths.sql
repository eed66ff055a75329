-- How many turns have calls that are due or were made, and how many such calls there are: the bodies of long paths are too
-- large to be looked through for it.
alter table samples add column call_turns integer;
alter table samples add column calls integer;
update samples set
    call_turns = len(list_filter(body ->> '$.turns[*].kind', lambda kind: kind = 'calls')),
    calls = len(body -> '$.turns[*].calls[*].tool');
