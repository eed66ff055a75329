-- What each check says of a subject: its newest verdict, which alone counts. Earlier ones stand in `verdicts`. Who reads
-- those of all subjects asks all_newest_verdicts, which sorts only what was checked anew by age.
create or replace view newest_verdicts as
select
    subject, check_name, arg_max_null(key, made_at) as key, arg_max_null(decision, made_at) as decision,
    arg_max_null(grade, made_at) as grade, arg_max_null(score, made_at) as score, arg_max_null(reason, made_at) as reason,
    arg_max_null(evidence, made_at) as evidence, arg_max_null(open_arguments, made_at) as open_arguments,
    arg_max_null(doubts, made_at) as doubts, arg_max_null(readings, made_at) as readings,
    arg_max_null(model, made_at) as model, arg_max_null(version, made_at) as version, max(made_at) as made_at
from verdicts group by subject, check_name;
