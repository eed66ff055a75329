"""Language models: one chat protocol, the adapters behind it, the ledger, the limits and the
budget.
"""
