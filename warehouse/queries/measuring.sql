-- name: lacking
-- Of what the reader read in a build, the samples in which is still to be planted for its check ($2): first by a hash, as many of each
-- language and family as the recipe wants of what it has read: a share ($4), at least so many ($5), but of these no more than another
-- share ($7). Whether the reader agreed plays no part, else it would be measured on what it finds easy; what a rule doubts is left out.
with reads as (
    select distinct v.subject from all_newest_verdicts v join build_samples b on b.sample = v.subject
    where b.build = $1 and v.check_name = $2 and v.model <> ''
), doubted as (
    select v.subject from all_newest_verdicts v join stages t on t.name = v.check_name
    where v.model = '' and (v.decision = 'contradicted' or (v.decision = 'unproved' and not t.is_left_to_readers))
), places as (
    select s.key, s.language, coalesce(k.family, s.kind) as family, p.subject is not null as is_planted
    from reads r join samples s on s.key = r.subject anti join doubted d on d.subject = r.subject
    left join kinds k on k.name = s.kind
    left join planted_readings p on p.subject = s.key and p.check_name = $2 and p.version = $3
    where s.stage <> 'review'
), ranked as (
    select *, count(*) over mine as read, count(*) filter (is_planted) over mine as planted,
        row_number() over (partition by language, family, is_planted order by md5($6 || key), key) as place
    from places window mine as (partition by language, family)
)
select s.body from ranked r join samples s on s.key = r.key
where not r.is_planted and r.place <= greatest(least($5, ceil($7 * r.read)), ceil($4 * r.read)) - r.planted
order by r.language, r.family, r.place

-- name: any_planted
select 1 from planted_readings p join build_samples b on b.sample = p.subject where b.build = ? limit 1

-- name: doubted
select coalesce(sum(n_read), 0)::bigint as read, coalesce(sum(n_doubted), 0)::bigint as doubted from reader_precision
where defect = '' and build in (select build from latest_builds)
