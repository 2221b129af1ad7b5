"""Persistent state in Redis or Valkey: bytes only, independent of the call model."""
