-- What a reader wrote that did not know the gold, one reading a turn, and how it was settled where it differs.
alter table verdicts add column readings json;
update verdicts set readings = '[]';
