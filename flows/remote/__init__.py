"""Workers past this machine: Dask and work pools, who share nothing with the builder but an exchange."""
