-- Tasks that a simulated user talks about with an assistant.
insert or ignore into kinds values ('live_task', 'users', '', null, 'set', 'path', true, true, false, false, '', '', ['sample_review', 'correction', 'disambiguation']);
