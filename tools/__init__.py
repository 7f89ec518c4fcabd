"""Tools for whoever edits the course; a student needs none of them."""
