"""Writers: Arrow batches of text into files, whole or not at all."""

from celosia.data.writers._dialect import as_written, neutralised
from celosia.data.writers.csv import write_csv, write_lines
from celosia.data.writers.parquet import write_parquet
from celosia.data.writers.statistical import write_dta, write_sav
from celosia.data.writers.xlsx import write_xlsx

__all__ = [
    "as_written",
    "neutralised",
    "write_csv",
    "write_dta",
    "write_lines",
    "write_parquet",
    "write_sav",
    "write_xlsx",
]
