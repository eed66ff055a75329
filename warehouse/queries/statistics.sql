-- name: paths
select coalesce(s.category, 'Total') as domain, count(*)::int as samples, avg(s.call_turns) as steps, avg(s.calls) as calls
from outcomes f join samples s on s.key = f.subject join kinds k on k.name = s.kind
where f.build = ? and f.stage = 'land' and f.outcome = 'passed' and k.asked = 'path'
group by grouping sets ((s.category), ()) having count(*) > 0 order by grouping(s.category), domain

-- name: conversations
select s.body from samples s join outcomes f on f.subject = s.key join kinds k on k.name = s.kind
where f.build = ? and f.stage = 'land' and f.outcome = 'passed' and k.has_acts

-- name: spent
select coalesce(sum(n_requests - n_cached), 0)::int as calls, coalesce(sum(n_cached), 0)::int as known,
    coalesce(sum(prompt_tokens + completion_tokens), 0)::bigint as tokens, coalesce(sum(cost), 0)::double as cost,
    sum(cost_per_accepted) as cost_per_accepted
from costs where build = ?

-- name: funnel
select stage, n_entered as entered, n_passed as passed, n_rejected as rejected, n_failed as failed,
    n_waiting as waiting, n_not_applicable as not_applicable, n_personal_values as personal_data
from funnel where build = ? order by position

-- name: users
select language, n_conversations as conversations, mean_user_turns as user_turns, n_user_wordings as user_wordings,
    user_refused_share as user_refused, user_error_share as user_errors
from live_users where build = ?

-- name: composition
select kind, sum(n_made)::int as made, sum(n_landed)::int as landed, sum(n_proved)::int as proved,
    sum(n_judged)::int as judged, sum(n_waiting)::int as waiting, sum(n_tools)::int as tools
from composition where build = ? group by kind

-- name: repeated
select language, what, words, n_requests as requests, n_requests_of_language as of_requests, words_share as share, allowed_share as allowed
from repeated_words where build = ? and is_too_frequent

-- name: failures
select stage, n_records as records, reason from rejections where build = ? and outcome = 'failed' order by position, n_records desc
