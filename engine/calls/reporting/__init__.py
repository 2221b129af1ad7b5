"""What a call reports: events, its call record, its history."""
