"""Message templates: kept here, approved and sent by the messaging platform."""
