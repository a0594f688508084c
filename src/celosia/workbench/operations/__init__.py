"""What a page may call: thin typed functions, light to import, each with the roles that may call it."""
