"""Clock, tasks, ports and caches that the runtime builds on."""
