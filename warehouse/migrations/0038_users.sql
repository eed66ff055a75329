-- Live runs: the first words of the simulated user, how often it answered, and how often its wordings and its words were wrong.
alter table multi_step_runs add column opening varchar default '';
alter table multi_step_runs add column user_turns integer;
alter table multi_step_runs add column user_wordings integer;
alter table multi_step_runs add column user_refused integer;
alter table multi_step_runs add column user_errors integer;
