"""Numbers of an account's business on the messaging platform (docs/messaging.md)."""
