"""What the engine does itself for a call: media, webhooks, flows, API requests."""
