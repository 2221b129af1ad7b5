"""The settings of an engine by subject, with their texts; docs/reference/settings.md shows them."""
