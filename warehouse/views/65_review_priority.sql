-- Where in the queue each open question stands, from 0 to 1, the highest first, and why. What is wanted of people comes by its cause,
-- which gives the stretch of the queue (`lowest` and `span`), and its parts, which say where in it (`worth`), so `priority` =
-- lowest + span * worth. What was drawn at random (spot checks, second looks, audits, gold items) stands among it by rank: in a
-- row of `draw_every` questions, as the recipe says, the last is a draw, so it comes just behind the question that has `behind`
-- others at or before its place; what was drawn beyond that comes at the end, evenly. A question about a path stands for the samples
-- that were made after it. What was pushed keeps the priority of its push, which stands in `review_queue`.
--
-- `nearness`: how near the checks that failed came to proving it. `blocker`: 1 where its kind has fewer samples than the recipe
-- plans and this one would be one more. `rarity`: how far its kind and category are from what is planned. `reach`: how many samples
-- one answer settles. `agreed`: of a suspect, the share of candidates that give one other answer. `chance`: which draw comes before
-- which; it knows nothing of the draws, so that those at the top are an honest estimate also where people never come to the end, and
-- gold items, which pass for spot checks, are not told by their place.
create or replace view review_priority as
with stretches as (
    select unnest([
        -- Wrong gold in a release misleads everybody who uses it.
        {'cause': 'suspect', 'lowest': 0.95, 'span': 0.05},
        -- Who typed it knows it still.
        {'cause': 'returned edit', 'lowest': 0.9, 'span': 0.0},
        -- Does not land before somebody has decided.
        {'cause': 'doubtful', 'lowest': 0.3, 'span': 0.58}
    ], recursive := true)
), weights as (
    select
        0.4 as nearness, -- what a check nearly proved is most likely good, and quickly seen to be; hopeless cases can wait
        0.3 as blocker, -- a recipe that has what it plans can be released
        0.2 as rarity, -- the hundredth of a kind teaches less than the third
        0.1 as reach -- decides between questions that are alike otherwise
), open_questions as (
    select q.subject, q.kind, q.version, q.cause, q.build, s.lowest, s.span
    from review_queue q left join stretches s on s.cause = q.cause
    where q.is_current and not q.is_answered
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
), newest as (
    select subject, check_name, arg_max(decision, made_at) as decision, arg_max(score, made_at) as score
    from verdicts semi join asked_samples on asked_samples.sample = verdicts.subject group by all
), nearly as (
    -- A score is the share of what a check looked at that it could prove, so 1 is its threshold; the recipe's `rouge_l` says which
    -- values count as proved in it. The likeness of a tool to another one runs the other way: up to 0.66 it is a tool of its own.
    select
        subject,
        case
            when decision = 'contradicted' and score is null then 0.1 -- a plain no
            when score is null then 0.5 -- the check has no scale: it may be anything
            else case when check_name = 'tool_redundancy' then least(1, (1 - score) / (1 - 0.66)) else score end
                * case when decision = 'contradicted' then 0.5 else 1 end -- something speaks against it, whatever else is right
        end as nearness
    from newest where decision <> 'proved'
), in_doubt as (
    select o.subject, o.kind, o.version, avg(n.nearness) as nearness
    from asked_samples o join nearly n on n.subject = o.sample group by all
), agreement as (
    select subject, max(agreeing / candidates) as agreed from suspects
    where subject in (select subject from open_questions where cause = 'suspect') group by all
), parts as (
    select
        o.*, coalesce(d.nearness, 0) as nearness, coalesce(r.blocker, y.blocker, 0) as blocker,
        coalesce(r.rarity, y.rarity, 0) as rarity, coalesce(r.reach, y.reach, 0) as reach,
        -- A suspect that no candidate points at was found by a person.
        case when o.cause = 'suspect' then coalesce(a.agreed, 1) else 0 end as agreed,
        case when o.lowest is null then md5_number_lower(o.subject) / 18446744073709551616 else 0 end as chance
    from open_questions o
    left join in_doubt d using (subject, kind, version)
    left join of_recipes r using (subject, kind, version)
    left join of_toolsets y using (subject, kind, version)
    left join agreement a using (subject)
), weighed as (
    select
        p.*, case p.cause
            when 'suspect' then p.agreed
            when 'doubtful' then w.nearness * p.nearness + w.blocker * p.blocker + w.rarity * p.rarity + w.reach * p.reach
            else p.chance
        end as worth
    from parts p, weights w
), wanted as (
    select
        kind, round(lowest + span * worth, 4) as priority,
        row_number() over (partition by kind order by round(lowest + span * worth, 4) desc) as rank
    from weighed where lowest is not null
), drawn as (
    select
        d.subject, d.kind, d.version, e.draw_every, d.rank, d.rank * (e.draw_every - 1) as behind,
        -- What is drawn beyond one in so many: its place among those.
        greatest(0, d.rank - coalesce(t.wanted, 0) // (e.draw_every - 1)) as beyond,
        coalesce(t.lowest, 0.3) as last
    from (
        select *, row_number() over (partition by kind order by chance, subject, version) as rank from weighed where lowest is null
    ) d
    left join (select kind, count(*) as wanted, min(priority) as lowest from wanted group by kind) t on t.kind = d.kind
    left join (
        select key, json_extract_string(body, '$.review.draw_every')::integer as draw_every from builds
    ) b on b.key = d.build, lateral (select coalesce(b.draw_every, 10) as draw_every) e
), placed as (
    select
        d.*, case
            when d.beyond = 0 then w.priority - 0.0001
            else least(0.3, d.last) * (1 - d.beyond / (max(d.beyond) over (partition by d.kind) + 1))
        end as priority
    from drawn d left join wanted w on w.kind = d.kind and w.rank = d.behind
)
select
    w.subject, w.kind, w.version, w.cause, w.lowest::double as lowest, w.span::double as span, w.nearness, w.blocker, w.rarity,
    w.reach, w.agreed, w.chance, w.worth, p.draw_every, p.behind,
    round(coalesce(w.lowest + w.span * w.worth, p.priority), 4) as priority
from weighed w left join placed p using (subject, kind, version);
