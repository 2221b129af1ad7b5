"""What programs of both layers share: exit statuses, output, and commands by name."""
