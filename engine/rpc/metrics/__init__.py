"""The metrics page and its gauges."""
