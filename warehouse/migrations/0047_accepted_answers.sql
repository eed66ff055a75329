-- How an answer is right (gold, order, default, equal_tool, question), '' where it is wrong, null where it was not judged; and whether
-- scores count the gold alone, as all did before.
alter table predictions add column matched varchar;
update predictions set matched = case when error_type = '' then 'gold' else '' end where error_type is not null;
alter table scores add column as_published boolean;
update scores set as_published = true;
