"""Documents made from reports: this room has no Table, so no row can be printed here."""
