"""Descriptions of hierarchies, with arguments that are checked by name like those of every public function."""

from __future__ import annotations

from celosia.hierarchy import descriptions
from celosia.pipeline.project.arguments import check_arguments

dates = check_arguments(descriptions.dates)
groups = check_arguments(descriptions.groups)
intervals = check_arguments(descriptions.intervals)
mask = check_arguments(descriptions.mask)
official = check_arguments(descriptions.official)
