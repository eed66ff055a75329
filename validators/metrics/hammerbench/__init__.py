"""HammerBench's metrics: its logs as they were published, and our own answers at snapshots."""
