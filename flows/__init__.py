"""The application: the table of stages, the runner, recipes, Prefect flows and the commands."""
