-- Which checks all that a build has went through, and in which version: a build that meets another one runs just that.
create table build_checks (
    build varchar not null, check_name varchar not null, version varchar not null, met_at timestamptz not null,
    primary key (build, check_name)
);
insert into build_checks
select b.build, v.check_name, arg_max(v.version, v.made_at), max(v.made_at)
from build_samples b join verdicts v on v.subject = b.sample
where v.check_name <> 'duplicates' group by b.build, v.check_name;
