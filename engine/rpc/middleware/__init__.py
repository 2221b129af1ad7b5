"""Forwarding, concurrency limit, timing and tracing of RPC requests."""
