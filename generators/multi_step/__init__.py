"""Multi-step paths: what a user wants, the calls that get there, and the proof that only one
path does (ComplexFuncBench 2.1).
"""

GROUP = "multi_step"
ONE_DOMAIN, SEVERAL_DOMAINS = "multi_step", "multi_step_cross"
TASK, CROSS_TASK = "task", "task_cross"
TASKS = (TASK, CROSS_TASK)
