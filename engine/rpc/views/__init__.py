"""What the RPC shows of calls, sessions and recordings."""
