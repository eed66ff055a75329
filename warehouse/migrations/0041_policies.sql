-- Samples in which an assistant has to follow policies, and what became of runs over them.
alter table multi_step_runs add column policy varchar;
alter table multi_step_runs add column policy_sort varchar;
alter table multi_step_runs add column violated boolean;
alter table multi_step_runs add column refused boolean;
insert or ignore into kinds values ('policy', 'policies', '', null, 'set', 'path', true, false, false, false, '', '', ['sample_review', 'correction', 'disambiguation']);
