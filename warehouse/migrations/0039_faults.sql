-- Samples in which something goes wrong, and what became of runs over them.
alter table multi_step_runs add column fault varchar;
alter table multi_step_runs add column obeyed boolean;
insert or ignore into kinds values ('tool_error', 'faults', '', null, 'set', 'path', true, false, false, false, '', '', ['sample_review', 'correction', 'disambiguation']);
insert or ignore into kinds values ('injected', 'faults', '', null, 'set', 'path', true, false, false, false, '', '', ['sample_review', 'correction', 'disambiguation']);
