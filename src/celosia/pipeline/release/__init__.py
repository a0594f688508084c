"""The release folder: made, signed, published, verified, reviewed; its documents and status."""
