-- Tasks: samples that are judged by how a world ends.
alter table multi_step_runs add column needless_changes integer;
insert or ignore into kinds values ('task', 'multi_step', '', null, 'set', 'path', true, false, false, false, '', '', ['sample_review', 'correction', 'disambiguation']);
