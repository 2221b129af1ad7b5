"""Background jobs: rows of the database, done by any process, one at a time each."""
