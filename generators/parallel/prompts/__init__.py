"""The prompt of requests for several calls."""
