"""What must outlive an engine, kept in Redis or Valkey; bytes only, it knows nothing of calls."""
