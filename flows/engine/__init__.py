"""The Prefect integration: the same functions as flows and tasks.

The flow files beside this folder are shims.
"""
