-- How the simulated users of a build's live tasks did, by build and language: their `mean_user_turns` a conversation, and the shares of wordings that
-- were refused when they were read back (plain words were sent in the end), and of answers that other rules don't bear out. The
-- same are figures of runs in domain_board.
create or replace view live_users as
with talks as (
    select b.build, s.language, v.score,
        len(list_filter(json_extract_string(s.body, '$.turns[*].kind'), lambda kind : kind = 'user')) - 1 as answers,
        regexp_extract_all(sample_fact(s.body, 'user'), '\d+')::integer[] as counts
    from build_samples b join samples s on s.key = b.sample join kinds k on k.name = s.kind and k.family = 'users'
    left join all_newest_verdicts v on v.subject = s.key and v.check_name = 'user'
)
select build, language, count(*) as n_conversations, avg(answers) as mean_user_turns, sum(counts[1])::bigint as n_user_wordings,
    sum(counts[2]) / nullif(sum(counts[1]), 0) as user_refused_share, sum(round((1 - score) * answers)) / nullif(sum(answers) filter (score is not null), 0) as user_error_share
from talks group by build, language order by build, language;
