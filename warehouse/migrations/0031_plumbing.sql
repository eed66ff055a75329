-- Parameters that nobody says, such as paging and field masks: no plan chooses them.
alter table tools add column plumbing varchar[];
