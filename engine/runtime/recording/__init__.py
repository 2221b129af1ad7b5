"""Recording of calls through MixMonitor, and the way to the archive."""
