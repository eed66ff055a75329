-- One row a run of a model by a strategy, a split of the release ('' is all of it), and a slice: CallNavi's figures over plans of calls, CONFETTI's over
-- conversations, and how steady the answers of all runs are (told with the first). Fractions. The figures by a judge's grades
-- stand in rows of their own (`judge`), those by rule where it is ''.
create or replace view answer_board as
select
    release, split, candidate, strategy, tools_shown, run, judge, slice_by, slice_value,
    max(value) filter (metric = 'syntax_validity') as syntax_validity,
    max(value) filter (metric = 'syntax_validity_repaired') as syntax_validity_repaired,
    max(value) filter (metric = 'routing') as routing,
    max(value) filter (metric = 'structure') as structure,
    max(value) filter (metric = 'ast') as ast,
    max(value) filter (metric = 'syntax_validity_macro') as syntax_validity_macro,
    max(value) filter (metric = 'routing_macro') as routing_macro,
    max(value) filter (metric = 'structure_macro') as structure_macro,
    max(value) filter (metric = 'ast_macro') as ast_macro,
    max(value) filter (metric = 'ast_soft') as ast_soft,
    max(value) filter (metric = 'ast_strict') as ast_strict,
    max(value) filter (metric = 'ast_soft_chains') as ast_soft_chains,
    max(value) filter (metric = 'ast_strict_chains') as ast_strict_chains,
    max(value) filter (metric = 'act_accuracy') as act_accuracy,
    max(value) filter (metric = 'invented') as invented,
    max(value) filter (metric = 'election_stability') as election_stability,
    max(value) filter (metric = 'levenshtein_stability') as levenshtein_stability,
    max(value) filter (metric = 'judge_score') as judge_score,
    max(value) filter (metric = 'judge_score_macro') as judge_score_macro,
    max(value) filter (metric = 'parameter_validity') as parameter_validity,
    max(value) filter (metric = 'parameter_validity_of_all') as parameter_validity_of_all,
    max(low) filter (metric = 'ast') as ast_low,
    max(high) filter (metric = 'ast') as ast_high,
    max(low) filter (metric = 'ast_soft') as ast_soft_low,
    max(high) filter (metric = 'ast_soft') as ast_soft_high,
    max(count) filter (metric = 'judge_score') as n_graded_plans,
    max(count) filter (metric = 'parameter_validity') as n_judged_parameters,
    max(count) filter (metric = 'ast') as n_plans,
    max(count) filter (metric = 'ast_soft') as n_call_turns,
    max(count) filter (metric = 'invented') as n_answers
from scores where snapshots = 'all' group by all
having count(*) filter (
    metric in ('ast', 'ast_soft', 'election_stability', 'invented', 'judge_score', 'parameter_validity', 'parameter_validity_of_all')
) > 0;
