-- Who speaks in a sample and how, where its recipe names personas or styles: a row for each such sample.
create or replace view sample_voices as
select key as sample, kind, language, coalesce(sample_fact(body, 'persona'), '') as persona, coalesce(sample_fact(body, 'style'), '') as style
from samples where sample_fact(body, 'persona') is not null or sample_fact(body, 'style') is not null;
