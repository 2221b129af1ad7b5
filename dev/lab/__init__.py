"""The lab: its settings, its servers, and how they start and stop."""
