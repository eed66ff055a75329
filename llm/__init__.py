"""Language models: one chat protocol, its adapters, the ledger, limits and the budget."""
