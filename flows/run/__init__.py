"""A build from recipe to landed samples: `plan` it, `carry` shards, `work` records, `land`."""
