-- Kinds of conversations that are taken from files.
insert or ignore into kinds values
    ('taken_call', 'taken', '', null, 'one', 'call', false, false, false, false, '', '', ['sample_review']),
    ('taken_calls', 'taken', '', null, 'set', 'plan', false, false, false, false, '', '', ['sample_review']),
    ('taken_conversation', 'taken', '', null, 'set', 'conversation', true, true, false, false, '', '', ['sample_review']);
