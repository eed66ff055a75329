-- name: samples
select s.key, s.kind, s.language, s.request, s.gold, s.body,
    list(v.check_name order by v.check_name) filter (v.decision = 'proved') as proved,
    list(v.check_name || ' ' || v.decision || ': ' || v.reason) filter (v.decision <> 'proved') as problems
from samples s left join verdicts v on v.subject = s.key group by all order by s.kind, s.key
