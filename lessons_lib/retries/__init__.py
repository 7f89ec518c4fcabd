"""Retries as numbers: streams, schedules, jitter, bursts."""
