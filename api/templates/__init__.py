"""Message templates: stored here, approved and sent by the messaging platform."""
