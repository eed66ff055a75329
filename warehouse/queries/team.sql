-- name: of_subjects
select key, language, kind as sample_kind from samples
union all
select key, language, '' from tools
union all
select p.key, s.language, s.kind from predictions p join samples s on s.key = p.subject
union all
select b.draft, any_value(s.language), any_value(s.kind) from build_samples b join samples s on s.key = b.sample
group by b.draft

-- name: subjects
from (@of_subjects) where list_contains(?::varchar[], key)

-- name: given
with given as (
    select reviewer, kind, subject from standing_reviews
    where annotation_id > 0 and kind <> 'training' and list_contains(?::varchar[], reviewer)
)
select g.reviewer, g.kind, s.language, s.sample_kind, count(*) as reviews
from given g join (@of_subjects) s on s.key = g.subject group by all
