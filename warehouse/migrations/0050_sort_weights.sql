-- What each sort of doubt weighs, once fifty answers to questions are known (see the view doubt_sorts), and what was expected of a
-- question when it was pushed.
create table sort_weights (sort varchar primary key, weight double not null, fitted_on bigint not null, fitted_at timestamptz not null);
alter table review_requests add column expected double;
alter table review_rounds add column expected double;
