"""An account's status callbacks: target, secrets, dead letters and tests (docs/callbacks.md)."""
