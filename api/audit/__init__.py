"""The audit trail: who did what, with which outcome."""
