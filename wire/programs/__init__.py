"""What programs of both layers share: exit statuses, and the error of invalid settings."""
