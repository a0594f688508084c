"""The former name of `celosia.data.files`; kept while other modules still import it from here."""

from celosia.data.files import (
    PRIVATE_FILE,
    PRIVATE_FOLDER,
    private_folder,
    put_in_place,
    reading_from,
    remove_abandoned,
    replacing,
    scratch_beside,
    writing_into,
)

__all__ = [
    "PRIVATE_FILE",
    "PRIVATE_FOLDER",
    "private_folder",
    "put_in_place",
    "reading_from",
    "remove_abandoned",
    "replacing",
    "scratch_beside",
    "writing_into",
]
