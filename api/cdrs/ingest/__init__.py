"""Call events and records from the engines into the database."""
