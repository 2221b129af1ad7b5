"""ARI client of one PBX: requests, events and their transports; independent of calls."""
