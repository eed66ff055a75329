-- The samples that each build has landed and nobody took back since. One that an earlier build landed already counts for each build that has
-- it, while `accepted_samples` names the build that landed it first.
create or replace macro landed_samples() as table
    select b.recipe, o.build, o.subject
    from outcomes o join builds b on b.key = o.build semi join (from acceptances where withdrawn_at is null) a on a.subject = o.subject
    where o.stage = 'land' and o.outcome = 'passed';
