"""Live views: tables and calls that are followed."""
