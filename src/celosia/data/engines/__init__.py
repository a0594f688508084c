"""The engines a Table can run on: DuckDB by default, PostgreSQL and Spark where the data live."""
