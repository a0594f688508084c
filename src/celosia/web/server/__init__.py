"""The server of the page: connections, sessions, log-in, limits, uploads."""
