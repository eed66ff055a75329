-- Tasks over several worlds.
insert or ignore into kinds values ('task_cross', 'multi_step', '', null, 'set', 'path', true, false, false, false, '', '', ['sample_review', 'correction', 'disambiguation']);
