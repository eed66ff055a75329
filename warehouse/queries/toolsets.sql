-- name: last_outcomes
-- The last check that each tool met: where it waits or was rejected, else the review.
select f.subject, arg_max(f.outcome, t.position) as outcome, arg_max(f.reason, t.position) as reason
from made_tools m join outcomes f on f.build = m.toolset and f.subject = m.tool join stages t on t.name = f.stage
where m.toolset = ? group by f.subject
