"""The telephony engine: runs calls as crash-safe trees of verbs on Asterisk nodes."""
