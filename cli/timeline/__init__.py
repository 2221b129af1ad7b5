"""How a call's timeline is rendered."""
