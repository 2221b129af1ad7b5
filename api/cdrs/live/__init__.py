"""Live call events over server-sent events."""
