"""Messages: counters, a durable queue, consumers that die."""
