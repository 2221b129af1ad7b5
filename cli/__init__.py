"""The `switchroom` command: a client of an engine's RPC, and of nothing else of the engine."""
