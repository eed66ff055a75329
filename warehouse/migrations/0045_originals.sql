-- The schema of a tool's whole call as its document has it, where the tool's parameters say less.
alter table tools add column original json;
