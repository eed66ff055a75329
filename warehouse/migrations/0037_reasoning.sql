-- What a candidate thought before it answered.
alter table predictions add column reasoning varchar default '';
