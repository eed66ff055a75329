-- What each release holds beside the release that it follows, by kind: how many samples came, went and stayed. Which ones, and which
-- fields of edited samples changed, tells `callwright release diff`.
create or replace view release_changes as
with followed as (
    select name, follows from releases where coalesce(follows, '') <> ''
), members as (
    select r.name as release, r.follows, m.subject, m.release = r.name as is_new
    from followed r join release_samples m on m.release in (r.name, r.follows)
), sides as (
    select release, follows, subject, bool_or(is_new) as is_in, bool_or(not is_new) as was_in from members group by all
)
select
    d.release, d.follows, s.kind, count(*) filter (is_in and not was_in) as n_added, count(*) filter (was_in and not is_in) as n_removed,
    count(*) filter (is_in and was_in) as n_kept
from sides d join (select key, kind from samples) s on s.key = d.subject group by all order by d.release, s.kind;

-- What the splits of a release share, a row a pair of splits: near duplicates, requests that are the same to the letter, parents that
-- samples of both were made of, and tools that both call. A test split that shares samples with train measures memory.
create or replace view split_leakage as
with members as (
    select m.release, m.split, m.subject, s.request, s.parents, case when coalesce(k.has_results, false) then json_extract_string(s.body, '$.turns[*].calls[*].tool') else json_extract_string(s.gold, '$[*].tool') end as tools
    from release_samples m join samples s on s.key = m.subject left join kinds k on k.name = s.kind where m.split is not null
), pairs as (
    select a.release, a.split, b.split as other_split from (select distinct release, split from members) a
    join (select distinct release, split from members) b on b.release = a.release and a.split < b.split
), duplicates as (
    select release, least(split, other_split) as split, greatest(split, other_split) as other_split, count(*) as near_duplicates
    from release_duplicates group by all
), requests as (
    select a.release, a.split, b.split as other_split, count(distinct a.request) as same_requests
    from (select distinct release, split, request from members) a
    join (select distinct release, split, request from members) b using (release, request) where a.split < b.split and a.request <> ''
    group by all
), parents as (
    select a.release, a.split, b.split as other_split, count(*) as same_parents
    from (select distinct release, split, unnest(parents) as parent from members) a
    join (select distinct release, split, unnest(parents) as parent from members) b using (release, parent) where a.split < b.split
    group by all
), tools as (
    select a.release, a.split, b.split as other_split, count(*) as same_tools
    from (select distinct release, split, unnest(tools) as tool from members) a
    join (select distinct release, split, unnest(tools) as tool from members) b using (release, tool) where a.split < b.split
    group by all
)
select
    p.release, p.split, p.other_split, coalesce(d.near_duplicates, 0) as n_near_duplicates, coalesce(r.same_requests, 0) as n_same_requests,
    coalesce(q.same_parents, 0) as n_same_parents, coalesce(t.same_tools, 0) as n_same_tools
from pairs p
left join duplicates d using (release, split, other_split)
left join requests r using (release, split, other_split)
left join parents q using (release, split, other_split)
left join tools t using (release, split, other_split)
order by p.release, p.split, p.other_split;
