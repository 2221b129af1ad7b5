"""Files of contacts, read: CSV in any usual encoding, and spreadsheets. Runs in a process apart."""
