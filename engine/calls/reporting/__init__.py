"""What a call reports: events, its call record, and the history for the record."""
