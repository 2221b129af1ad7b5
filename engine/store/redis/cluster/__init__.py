"""Redis Cluster: which primary has a key, and requests that follow it."""
