"""Prefect's side of the house: the same functions as flows and tasks; the flow files beside this folder are shims."""
