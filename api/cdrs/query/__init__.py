"""Queries over call records: filters, access paths, pages."""
