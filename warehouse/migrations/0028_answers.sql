-- What an edit says, by its content alone: two edits with the same `answer` are one, whoever made them and in whatever order. That of
-- a gold item is what an edit must say to be right. What was stated before has none until the next pull.
alter table reviews add column answer varchar;
alter table gold_items add column answer varchar;
