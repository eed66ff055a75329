-- What a sample rests on, typed: a check's answer has the grade of the claims that it settles and the model that gave it, an
-- accepted sample the weakest grade of its claims. Until now "proved" meant that every check proved it, those that ask a model
-- among them: the next build of a recipe tells apart which of these rules alone prove.
alter table verdicts add column grade varchar;
alter table verdicts add column model varchar;
alter table verdicts add column open_arguments varchar[];
update verdicts set model = '', open_arguments = [], grade = case
    when decision <> 'proved' then 'open'
    when check_name in ('relevance', 'consistency', 'all_calls', 'meaning', 'scenario') then 'judged'
    else 'proved' end;

alter table stages add column role varchar;
alter table stages add column settles varchar[];
alter table stages add column is_left_to_readers boolean;
update stages set role = '', settles = [], is_left_to_readers = false;

alter table acceptances add column grade varchar;
alter table acceptances add column judged_by varchar[];
update acceptances set grade = if(proved, 'judged', 'vouched'), judged_by = [];
alter table acceptances drop column proved;
alter table acceptances drop column vouched;
