"""Call records: written from the event stream, listed, exported, added up."""
