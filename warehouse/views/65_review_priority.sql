-- Where in the queue each open question stands, from 0 to 1, the highest first, and why: by what its answer is worth, which is the
-- `probability` that people change something times what hangs on it (`stakes`), so `priority` = probability * stakes. The probability
-- comes of the sorts of doubt about it (see doubt_sorts; review_calibration tells how right it was). What was drawn at random (spot
-- checks, second looks, audits, gold items) stands among these by rank: in a
-- row of as many questions as the recipe says (`review.draw_every`) the last is a draw, so it comes just behind the question that has
-- `n_before` others at or before its place; what was drawn beyond that comes at the end, evenly. A question about a path stands for the samples
-- that were made after it. What was pushed keeps the priority of its push, which stands in `review_queue`.
--
-- `is_blocker`: its kind has fewer samples than the recipe plans and this one would be one more. `rarity`: how far its kind and
-- category are from what is planned. `reach`: how many samples one answer settles. A suspect, and an edit that came back, has all at
-- stake: the one is in a release and misleads everybody who uses it, of the other somebody still knows what was meant. `chance`: which
-- draw comes before which; it knows nothing of the draws, so that those at the top are an honest estimate also where people never come to the end, and
-- gold items, which pass for spot checks, are not told by their place.
create or replace view review_priority as
with weights as (
    select
        0.4 as base,
        0.3 as blocker, -- a recipe that has what it plans can be released
        0.2 as rarity, -- the hundredth of a kind teaches less than the third
        0.1 as reach -- decides between questions that are alike otherwise
), open_questions as (
    select q.subject, q.kind, q.version, q.cause, q.build, q.cause in ('spot check', 'second look', 'audit', 'gold item') as is_drawn
    from review_queue q
    where q.is_current and not q.is_answered
), expected as (
    select q.subject, q.kind, q.version, 1 / (1 + exp(-sum(s.weight))) as probability
    from question_sorts q join doubt_sorts s using (sort) group by all
), of_samples as (
    select o.subject, o.kind, o.version, o.build, o.subject as sample from open_questions o
    union all
    select o.subject, o.kind, o.version, o.build, b.sample from open_questions o join build_samples b on b.draft = o.subject
), asked_samples as (
    select distinct * from of_samples
), of_recipes as (
    select
        o.subject, o.kind, o.version, 1 - 1 / count(*) as reach,
        avg(greatest(0, 1 - coalesce(n.landed[k.category], 0) * n.categories / nullif(n.planned, 0))) as rarity,
        max(case when n.lacking > 0 and l.subject is null then 1 else 0 end) as blocker
    from asked_samples o
    join (select key, kind, category from samples) k on k.key = o.sample
    left join builds b on b.key = o.build
    left join (select subject, recipe from acceptances where withdrawn_at is null) l on l.subject = o.sample
    left join recipe_needs n on n.recipe = coalesce(b.recipe, l.recipe) and n.kind = k.kind
    group by o.subject, o.kind, o.version
), of_toolsets as (
    -- As long as a category lacks tools, samples are made of fewer.
    select
        o.subject, o.kind, o.version, 0 as reach,
        greatest(0, 1 - coalesce(u.usable, 0) / json_extract_string(y.body, '$.source.tools_per_category')::integer) as rarity,
        case when coalesce(u.usable, 0) < json_extract_string(y.body, '$.source.tools_per_category')::integer then 1 else 0 end as blocker
    from open_questions o join tools t on t.key = o.subject join toolsets y on y.key = o.build
    left join toolset_needs u on u.toolset = o.build and u.category = t.category and u.language = t.language
), parts as (
    select
        o.*, e.probability, coalesce(r.blocker, y.blocker, 0) as blocker,
        coalesce(r.rarity, y.rarity, 0) as rarity, coalesce(r.reach, y.reach, 0) as reach,
        case when o.is_drawn then md5_number_lower(o.subject) / 18446744073709551616 else 0 end as chance
    from open_questions o
    left join expected e using (subject, kind, version)
    left join of_recipes r using (subject, kind, version)
    left join of_toolsets y using (subject, kind, version)
), weighed as (
    select
        p.*, case
            when p.is_drawn then null when p.cause <> 'doubtful' then 1
            else w.base + w.blocker * p.blocker + w.rarity * p.rarity + w.reach * p.reach
        end as stakes
    from parts p, weights w
), wanted as (
    -- No two are alike, so that a draw has a place between them.
    select subject, kind, version, priority, row_number() over (partition by kind order by priority desc, subject, version) as rank
    from (
        select subject, kind, version, round(probability * stakes, 4) - 0.000002 * (row_number() over (
            partition by kind, round(probability * stakes, 4) order by subject, version
        ) - 1) as priority
        from weighed where not is_drawn
    )
), drawn as (
    select
        d.subject, d.kind, d.version, d.rank, d.rank * (e.draw_every - 1) as n_before,
        -- What is drawn beyond one in so many: its place among those.
        greatest(0, d.rank - coalesce(t.wanted, 0) // (e.draw_every - 1)) as beyond,
        coalesce(t.lowest, 0.5) as last
    from (
        select *, row_number() over (partition by kind order by chance, subject, version) as rank from weighed where is_drawn
    ) d
    left join (select kind, count(*) as wanted, min(priority) as lowest from wanted group by kind) t on t.kind = d.kind
    left join (
        select key, json_extract_string(body, '$.review.draw_every')::integer as draw_every from builds
    ) b on b.key = d.build, lateral (select coalesce(b.draw_every, 10) as draw_every) e
), placed as (
    select
        d.*, case
            when d.beyond = 0 then w.priority - 0.000001
            else d.last * (1 - d.beyond / (max(d.beyond) over (partition by d.kind) + 1))
        end as priority
    from drawn d left join wanted w on w.kind = d.kind and w.rank = d.n_before
)
select
    w.subject, w.kind, w.version, w.cause, w.probability, w.stakes::double as stakes, w.blocker = 1 as is_blocker, w.rarity, w.reach, w.chance,
    p.n_before, round(coalesce(a.priority, p.priority), 6) as priority
from weighed w
left join wanted a using (subject, kind, version)
left join placed p using (subject, kind, version);

-- How right the expected probabilities were that people change something: the questions that were pushed and are decided, by what was
-- `expected` of them when they were pushed, in five stretches, and all of them (`stretch` is 'all'). `changed_share` lies between `low`
-- and `high` with 95 % confidence (Wilson); the expectation is right where `mean_expected` lies there too.
create or replace view review_calibration as
with decided as (
    select distinct q.subject, q.kind, q.version, coalesce(r.expected, n.expected) as expected, q.has_changed
    from question_sorts q
    left join review_requests r on r.subject = q.subject and r.kind = q.kind and q.version = 1
    left join review_rounds n on n.subject = q.subject and n.kind = q.kind and n.version = q.version
    where q.has_changed is not null and coalesce(r.expected, n.expected) is not null
), stretched as (
    select 'all' as stretch, expected, has_changed from decided
    union all
    select format('{:.1f} to {:.1f}', least(4, floor(expected * 5)) / 5, least(4, floor(expected * 5)) / 5 + 0.2), expected, has_changed
    from decided
)
select stretch, count(*) as n_answered, avg(expected) as mean_expected, count(*) filter (has_changed) as n_changed,
    count(*) filter (has_changed) / count(*) as changed_share,
    share_interval(count(*) filter (has_changed), count(*)).low as low, share_interval(count(*) filter (has_changed), count(*)).high as high
from stretched group by stretch order by stretch <> 'all', stretch;
