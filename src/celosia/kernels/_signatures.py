"""The types of the arguments with which each kernel is called from outside this package, as numba names them.

What is compiled at set-up. `tests/kernels/test_warm_up.py` fails where a verb calls a kernel with other types, which
would compile it again in front of whoever waits.
"""

from __future__ import annotations

from typing import Any

from celosia.kernels._jit import types

LONG, FLOAT, FLAG = types.int64, types.float64, types.boolean
LONGS = types.int64[::1]
INTS = types.int32[::1]
WORDS = types.uint64[::1]
FLAGS = types.boolean[::1]
FLOATS = types.float64[::1]
BYTES = types.int8[::1]
TEXT = types.uint8[::1]
LONG_TABLE = types.int64[:, ::1]
INT_TABLE = types.int32[:, ::1]
FLOAT_TABLE = types.float64[:, ::1]
FLAG_TABLE = types.boolean[:, ::1]
LONG_CUBE = types.int64[:, :, ::1]
FLOAT_CUBE = types.float64[:, :, ::1]

# Arrays lent by Arrow, which nobody may write.
LENT_LONGS = types.Array(types.int64, 1, "C", readonly=True)
LENT_BYTES = types.Array(types.uint8, 1, "C", readonly=True)


def signatures(module: str) -> dict[str, list[tuple[Any, ...]]]:
    """Of each kernel of a module that others call: the types of its arguments."""
    if module == "queries":
        return _query_signatures()
    return SIGNATURES[module]


def _query_signatures() -> dict[str, list[tuple[Any, ...]]]:
    from celosia.kernels.queries import Index

    index = types.NamedTuple((INT_TABLE, INT_TABLE, LONGS, LONGS, LONGS, LONGS, LONGS), Index)
    return {
        "group_weight": [(index, LONG_TABLE, LONGS, LONGS)],
        "lineup_weight": [(index, LONG_TABLE, LONG_TABLE, LONG_TABLE, LONGS, LONGS, LONGS, LONGS)],
        "sole_persons": [(index, LONG_TABLE, LONGS)],
        "tally_values": [(index, LONG_TABLE, LONGS, LONGS, LONGS, FLOATS, LONG)],
    }


SIGNATURES: dict[str, dict[str, list[tuple[Any, ...]]]] = {
    "combinations": {
        "address": [(INT_TABLE, LONGS, LONGS)],
        "count_cells": [(INT_TABLE, LONGS, LONGS, LONGS, LONG)],
    },
    "complements": {
        "close_rows": [
            (types.UniTuple(LONGS, 6), FLAGS, FLAGS, FLAGS, types.Tuple((FLAGS, FLAGS, LONGS)), LONGS, LONGS)
        ],
        "give_back": [(LONG_TABLE, FLAGS, FLAGS, FLAG, LONG)],
    },
    "cover": {
        "cheapest_cover": [(types.Tuple((LONG_TABLE, LONGS)), FLOAT_TABLE, LONG_TABLE, LONGS, FLOATS)],
        "join_coarser": [
            (
                types.Tuple((LONG_TABLE, LONGS, LONGS, FLOAT_TABLE)),
                types.Tuple((LONGS, LONG_TABLE, LONGS)),
                LONGS,
                LONGS,
                FLOAT,
                LONG,
            )
        ],
        "lower_costs": [(LONGS, FLOAT_TABLE, LONGS, LONGS, LONG, FLOATS)],
    },
    "cycles": {
        "find_cycles": [(LONGS, LONGS, LONG_TABLE, LONG_TABLE, FLAGS, FLAGS, FLAGS)],
    },
    "groups": {
        "group_means": [(FLOATS, LONGS)],
        "group_medians": [(FLOATS, LONGS)],
        "group_modes": [(FLOATS, LONGS)],
        "optimal_segments": [(FLOATS, LONGS, LONG, LONGS)],
    },
    "joining": {
        "add_expected_levels": [(INTS, BYTES, BYTES, FLOATS, FLAG_TABLE, FLOAT_TABLE)],
        "join_pairs": [
            (
                LONG_TABLE,
                LONG,
                INT_TABLE,
                INT_TABLE,
                INT_TABLE,
                INT_TABLE,
                LONGS,
                LONGS,
                LONGS,
                LONGS,
                LONG_TABLE,
                FLAG,
                LONGS,
                LONGS,
            )
        ],
        "keep_best": [(INTS, FLOATS, LONGS, FLOATS, LONGS)],
        "mark_crowded": [(LONGS, LONGS, FLAGS, FLAGS)],
        "record_sole_persons": [(LONGS, LONGS, LONGS, LONGS, LONGS, LONGS)],
        "run_ends": [(INT_TABLE,)],
        "weigh_pairs": [(INTS, INTS, BYTES, BYTES, FLOAT_CUBE, FLOAT, FLOATS, FLOATS)],
    },
    "judge": {
        "judge_distinct": [(LONGS, INTS, LONGS, FLAGS, FLAGS, LONG)],
        "judge_entropy": [(LONGS, INTS, LONGS, FLAGS, FLAGS, FLOAT)],
        "judge_equal": [(LONGS, INTS, LONGS, FLAGS, LONGS, LONG, LONG, LONG)],
        "judge_ordered": [(LONGS, INTS, LONGS, FLAGS, LONGS, LONGS, LONG, LONG, LONG)],
        "judge_partitions": [(LONGS, INTS, LONGS, FLAGS, LONG_TABLE, LONG_TABLE, LONG, LONG, LONG)],
        "judge_recursive": [(LONGS, INTS, LONGS, FLAGS, FLAGS, LONG, LONG, LONG)],
        "judge_share_range": [(LONGS, INTS, LONGS, FLAGS, FLOATS, FLOATS)],
        "judge_shares": [(LONGS, INTS, LONGS, FLAGS, LONGS, LONG)],
    },
    "lattice": {
        "cheapest_rows": [(FLOAT_CUBE, FLOAT_CUBE, LONG_TABLE, LONG)],
        "class_totals": [(LONGS, FLAGS, LONGS, LONG)],
        "climb": [(FLOATS, FLAGS, LONGS, LONGS, LONGS, FLOAT, LONG)],
        "loss_score": [(LONGS, LONG_TABLE, LONGS, LONG, LONG, LONGS, FLOATS, FLAG)],
        "loss_terms": [(LONG_TABLE, FLOAT_TABLE, LONG, LONGS, FLOATS, FLAG)],
        "raise_box": [(FLOATS, LONGS, LONGS, LONGS, FLOAT_TABLE)],
        "suppressed_counts": [(WORDS, LONGS, FLAGS, LONG_CUBE, types.Tuple((LONGS, WORDS, WORDS, INT_TABLE, FLAG)))],
        "suppressed_sums": [(WORDS, LONGS, FLAGS, LONG_CUBE, types.Tuple((LONGS, WORDS, WORDS, INT_TABLE, FLAG)))],
        "totals_by_size": [(LONGS, LONGS, LONG, LONG)],
    },
    "mdav": {
        "mdav_segments": [(FLOAT_TABLE, LONGS, LONG, LONG, LONG, LONGS)],
        "share_lost": [(FLOATS, FLOATS)],
        "split_segments": [(FLOAT_TABLE, LONGS, LONG, LONG)],
        "standard_scores": [(FLOAT_TABLE, LONGS)],
    },
    "network": {
        "grow_tree": [(types.UniTuple(LONGS, 4), FLAGS, FLAGS, LONGS, LONGS, FLAG)],
        "orient_rows": [(LONGS, LONGS, LONG_TABLE, LONG_TABLE)],
        "push_flow": [(LONG, LONG, types.UniTuple(LONGS, 4), FLOATS, FLOATS, FLAGS, FLOATS)],
        "tree_cycles": [(types.UniTuple(LONGS, 4), FLAGS, FLAGS, LONGS, types.UniTuple(LONGS, 2), FLAGS, FLAG)],
    },
    "numbering": {
        "hash_texts": [(LENT_LONGS, LENT_BYTES), (LONGS, TEXT)],
        "number_keys": [(LONGS,)],
        "number_texts": [(LENT_LONGS, LENT_BYTES, WORDS), (LONGS, TEXT, WORDS)],
    },
    "pairs": {
        "pair_up": [(LONGS, FLAGS, LONGS, LONGS, LONGS, LONGS, FLOATS, LONG)],
    },
    "peel": {
        "label_node": [(LONG_TABLE, LONGS, LONGS, LONGS, types.Tuple((LONGS, LONG_TABLE, LONGS)), LONGS, LONGS)],
    },
    "rollup": {
        "count_codes": [(INT_TABLE, LONGS, LONGS)],
        "fill_lookup": [(WORDS, INTS, LONG, LONGS, LONGS, types.Tuple((LONG_CUBE, LONG_CUBE, LONGS, WORDS, WORDS)))],
        "pack_keys": [(INT_TABLE, LONGS, LONGS, WORDS)],
        "roll_direct": [(WORDS, LONGS, INTS, LONGS, WORDS, WORDS, LONGS, FLAG, WORDS, LONGS, INTS, LONG)],
        "roll_extremes": [(INTS, LONG, INTS, INTS)],
        "roll_hash": [(WORDS, LONGS, WORDS, INTS, LONGS, WORDS, WORDS, LONG, FLAG, WORDS, LONGS, INTS, LONG)],
        "roll_persons": [(INTS, LONG, LONGS, LONGS, LONGS), (LONGS, LONG, LONGS, LONGS, LONGS)],
        "roll_sets": [(INTS, LONG, WORDS)],
        "roll_values": [(INTS, LONG, LONGS, INTS, LONGS, LONG, INTS)],
        "roll_wide": [(WORDS, LONGS, INT_TABLE, LONG_CUBE, LONGS, LONG, WORDS, LONGS, INTS, LONG)],
        "smallest_source": [(LONG_TABLE, LONGS, LONG, LONGS)],
    },
    "suda": {
        "minimal_sets": [(LONGS, LONGS)],
        "sets_by_tuple": [(LONGS, LONGS, LONG)],
        "tally_minimal_sets": [(LONGS, LONGS, FLAGS, FLOATS, INT_TABLE, FLOAT_TABLE)],
        "unique_sets": [(INT_TABLE, LONGS, FLAGS, LONG)],
    },
}
