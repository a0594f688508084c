"""Documents made from reports: this room has no Table, so no row can be printed here."""

from celosia.dossier._profile import profile_page

__all__ = ["profile_page"]
