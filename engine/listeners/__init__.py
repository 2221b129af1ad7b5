"""Sends webhooks to listeners instead of their addresses (docs/webhooks-in-development.md)."""
