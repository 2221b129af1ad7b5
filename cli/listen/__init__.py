"""`switchroom listen`: answers webhooks with a local server (docs/webhooks-in-development.md)."""
