"""What calls of an account run: routes of its numbers, flows and API requests."""
