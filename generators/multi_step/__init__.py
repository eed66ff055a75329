"""Multi-step paths: a user's goal, its calls, and proof of one path (ComplexFuncBench 2.1)."""

GROUP = "multi_step"
ONE_DOMAIN, SEVERAL_DOMAINS = "multi_step", "multi_step_cross"
TASK, CROSS_TASK = "task", "task_cross"
TASKS = (TASK, CROSS_TASK)
