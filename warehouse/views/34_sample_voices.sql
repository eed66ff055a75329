-- Who speaks in a sample and how, where its recipe names personas or styles: a row for each such sample.
create or replace view sample_voices as
with spoken as (
    select key, kind, language, sample_fact(body, 'persona') as persona, sample_fact(body, 'style') as style from samples
)
select key as sample, kind, language, coalesce(persona, '') as persona, coalesce(style, '') as style
from spoken where persona is not null or style is not null;
