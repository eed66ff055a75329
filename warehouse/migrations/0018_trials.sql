-- A build of fewer samples than its recipe asks for is a trial, which no release takes unless it is named. Of builds that are there
-- already nobody noted it: they count as whole.
alter table builds add column is_trial boolean default false;
update builds set is_trial = false;
