-- Answers that came faster than anybody reads: in fewer `seconds` than `reading_seconds`, which people would need at 50 letters a
-- second (some 600 words a minute; a Chinese sign counts as three letters) for what is said in the conversation and for the calls of
-- its last turn. Of tools it is their name, description and parameters. Whoever changes an answer later has read it before: of each
-- person the longest time at a thing counts.
create or replace view fast_answers as
with spoken as (
    select subject, kind, reviewer, max(seconds) as seconds, max(reviewed_at) as reviewed_at, arg_max(decision, reviewed_at) as decision
    from standing_reviews where annotation_id > 0 and seconds > 0 and kind <> 'training' group by subject, kind, reviewer
), texts as (
    select key as subject, concat_ws(' ', list_aggregate(body ->> '$.turns[*].text', 'string_agg', ' '), gold) as text
    from samples semi join spoken on spoken.subject = samples.key
    union all
    select key, concat_ws(' ', name, description, parameters)
    from tools semi join spoken on spoken.subject = tools.key
), timed as (
    select s.*, (length(t.text) + 2 * length(regexp_replace(t.text, '[^\x{3400}-\x{9fff}]', '', 'g'))) / 50 as reading_seconds
    from spoken s join texts t using (subject)
)
select reviewer, kind, subject, decision, reviewed_at, seconds, reading_seconds from timed where seconds < reading_seconds
order by reviewer, reviewed_at, subject;
