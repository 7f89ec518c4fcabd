"""Real processes: children, servers, probes, supervisors."""
