"""The Prefect integration: the same functions as flows and tasks; the flow files beside this
folder are shims.
"""
