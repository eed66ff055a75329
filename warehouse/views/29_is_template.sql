-- Whether the template model worded a sample, or is all that read it where rules leave something open: such a sample is for trying
-- out, not for training. `model` made the sample, `generator` is that of the build.
create or replace macro is_template(model, generator, grade, judged_by) as
    starts_with(coalesce(nullif(model, ''), generator, ''), 'template/')
    or (grade = 'judged' and len(judged_by) > 0 and len(list_filter(judged_by, lambda one: not starts_with(one, 'template/'))) = 0);
