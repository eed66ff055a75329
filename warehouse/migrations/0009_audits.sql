-- The answers of candidates that were drawn to see whether the metric is right about them, and what it said of each: the error
-- type, '' where it counted the answer right. A draw stays where a candidate is asked anew and its earlier answers are forgotten.
create table audit_draws (
    prediction varchar primary key, release varchar not null, model varchar not null, error_type varchar not null,
    drawn_at timestamptz not null
);
