-- Errors that a document declares of its operations: status and schema of the body.
alter table catalog_tools add column declared_errors json;
