"""What callwright keeps: the records, the DuckDB store, its views, exports and published copies."""
