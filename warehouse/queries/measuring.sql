-- name: lacking
-- Of what models settled in a build, the samples in which is still to be planted for a check's reader: first by a hash, as many of each
-- language and family as the recipe wants of what the reader has read: a share ($4), at least so many ($5), but of these no more than
-- another share ($9).
with reads as (
    select v.subject, bool_or(v.check_name = $2) as is_reader_s
    from all_newest_verdicts v join build_samples b on b.sample = v.subject
    where b.build = $1 and v.check_name in ($7, $8) and v.model <> '' group by v.subject
), places as (
    select s.key, s.language, coalesce(k.family, s.kind) as family, r.is_reader_s, p.subject is not null as is_planted,
        g.grade = 'judged' or p.subject is not null as may_be
    from reads r join samples s on s.key = r.subject join sample_grades g on g.subject = s.key
    left join kinds k on k.name = s.kind
    left join planted_readings p on p.subject = s.key and p.check_name = $2 and p.version = $3
    where s.stage <> 'review'
), ranked as (
    select *, count(*) filter (is_reader_s) over mine as read, count(*) filter (is_planted) over mine as planted,
        row_number() over (partition by language, family, is_planted, may_be order by md5($6 || key), key) as place
    from places window mine as (partition by language, family)
)
select s.body from ranked r join samples s on s.key = r.key
where r.may_be and not r.is_planted and r.read > 0 and r.place <= greatest(least($5, ceil($9 * r.read)), ceil($4 * r.read)) - r.planted
order by r.language, r.family, r.place

-- name: doubted
select coalesce(sum(read), 0)::bigint as read, coalesce(sum(doubted), 0)::bigint as doubted from reader_precision
where defect = '' and build in (select build from latest_builds)
