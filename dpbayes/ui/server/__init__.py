"""The server of the dashboard: how it is started, what it prepares, and what it refuses."""
