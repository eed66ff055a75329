-- What samples of each kind are like, for views to join: no view names a kind. Each build writes the table of generators/kinds.py
-- anew; these are the rows of that table as it was when this one came, so that a warehouse that is only read has them too.
create table kinds (
    name varchar primary key, family varchar not null, paper varchar not null, paper_count bigint, calls varchar not null,
    asked varchar not null, has_results boolean not null, is_long boolean not null, has_catalog boolean not null,
    has_acts boolean not null, difficulty varchar not null, shift varchar not null, reviews varchar[] not null
);
insert into kinds values
    ('perfect', 'single_turn', 'HammerBench', 2116, 'one', 'call', false, false, false, false, '', '', ['sample_review']),
    ('imperfect', 'single_turn', 'HammerBench', 3240, 'one', 'call', false, false, false, false, '', '', ['sample_review']),
    ('irrelevant', 'single_turn', 'HammerBench', null, 'one', 'call', false, false, false, false, '', '', ['sample_review']),
    ('sQsA', 'dialogues', 'HammerBench', 1098, 'one', 'call', false, true, false, false, '', '', ['sample_review']),
    ('mQmA', 'dialogues', 'HammerBench', 404, 'one', 'call', false, true, false, false, '', '', ['sample_review']),
    ('mQsA', 'dialogues', 'HammerBench', 404, 'one', 'call', false, true, false, false, '', '', ['sample_review']),
    ('sQmA', 'dialogues', 'HammerBench', 404, 'one', 'call', false, true, false, false, '', '', ['sample_review']),
    ('IS', 'shifts', 'HammerBench', 1098, 'one', 'call', false, true, false, false, '', 'last', ['sample_review']),
    ('SO_case1', 'shifts', 'HammerBench', 1067, 'one', 'call', false, true, false, false, '', 'same_turn', ['sample_review']),
    ('SO_case2', 'shifts', 'HammerBench', 395, 'one', 'call', false, true, false, false, '', 'own_turn', ['sample_review']),
    ('mSv', 'shifts', 'HammerBench', 1066, 'one', 'call', false, true, false, false, '', 'last', ['sample_review']),
    ('external', 'external', 'HammerBench', 1175, 'one', 'call', false, false, false, false, '', 'message', ['sample_review']),
    ('sQsA_external', 'external', 'HammerBench', 487, 'one', 'call', false, true, false, false, '', 'message', ['sample_review']),
    ('multi_step', 'multi_step', 'ComplexFuncBench', 600, 'set', 'path', true, false, false, false, '', '', ['sample_review', 'correction', 'disambiguation']),
    ('multi_step_cross', 'multi_step', 'ComplexFuncBench', 400, 'set', 'path', true, false, false, false, '', '', ['sample_review', 'correction', 'disambiguation']),
    ('routing_easy', 'routing', 'CallNavi', 456, 'sequence', 'plan', false, false, true, false, 'easy', '', ['sample_review']),
    ('routing_medium', 'routing', 'CallNavi', 188, 'sequence', 'plan', false, false, true, false, 'medium', '', ['sample_review']),
    ('routing_hard', 'routing', 'CallNavi', 85, 'sequence', 'plan', false, false, true, false, 'hard', '', ['sample_review']),
    ('conversation', 'conversations', 'CONFETTI', 109, 'set', 'conversation', true, true, false, true, '', '', ['sample_review', 'dialogue_acts']),
    ('parallel', 'parallel', 'BFCL', 400, 'set', 'plan', false, false, false, false, '', '', ['sample_review']);
-- Kinds that are made of others: a whole run of calls is then asked for the call that is due in the end, and acts are gone.
insert into kinds
select
    s.kind, t.family, k.paper, null, k.calls, if(k.asked = 'path', 'call', k.asked), k.has_results,
    k.is_long or t.family <> 'external', k.has_catalog, false, k.difficulty, t.shift, ['sample_review']
from (select distinct kind from samples) s
join kinds k on starts_with(s.kind, k.name || '_')
join kinds t on t.name in ('IS', 'SO_case1', 'SO_case2', 'mSv', 'external') and ends_with(s.kind, '_' || t.name)
where s.kind not in (select name from kinds)
qualify row_number() over (partition by s.kind order by length(k.name) desc) = 1;
