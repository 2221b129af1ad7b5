"""Settings of the REST layer by subject, with their texts for docs/reference/settings.md."""
