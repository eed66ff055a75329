-- Tasks of which something has to be told: whether the world ended as it should, and how many fields the final answer does not tell.
alter table multi_step_runs add column end_reached boolean;
alter table multi_step_runs add column untold integer;
