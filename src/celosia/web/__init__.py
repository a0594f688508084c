"""The page in the browser: a face like the command line; it parses and shows, and computes nothing."""

from celosia.web.server.serve import LOOPBACK, UPLOAD_LIMIT, Listening, projects_root, serve

__all__ = ["LOOPBACK", "UPLOAD_LIMIT", "Listening", "projects_root", "serve"]
