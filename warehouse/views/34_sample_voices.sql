-- Who speaks in a sample and how, where its recipe names personas or styles: a row for each such sample.
create or replace view sample_voices as
with traits as (
    select key, kind, language, unnest(from_json(body -> '$.tags', '["varchar"]')) as trait from samples
)
select key as sample, kind, language,
    coalesce(max(substr(trait, 9)) filter (starts_with(trait, 'persona=')), '') as persona,
    coalesce(max(substr(trait, 7)) filter (starts_with(trait, 'style=')), '') as style
from traits where starts_with(trait, 'persona=') or starts_with(trait, 'style=') group by all;
