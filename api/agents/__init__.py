"""An account's agents: directory, presence and phones (docs/numbers-and-routes.md)."""
