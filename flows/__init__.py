"""What runs: the table of stages, the runner, recipes, Prefect flows and the command line."""
