"""From a PERSONAL database to protected STATS tables: rules, counts, protection, catalogue, lineage, journal.

Two connections: PERSONAL read-only, STATS in one transaction per run. Only frequencies leave PERSONAL, and no count
that is not protected reaches STATS.
"""
