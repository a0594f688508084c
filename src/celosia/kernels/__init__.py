"""Compiled loops: roll-up, class statistics, bounds over a lattice. Arrays in, arrays out.

Importing this package costs nothing: numba is loaded by the modules inside, when a search first needs them.
The compiled code is kept in a folder of the user's own (`cache_folder`), chosen before numba is imported.
"""

from celosia.kernels._cache import cache_folder
from celosia.kernels._warm import compile_unclaimed, is_warm, warm_up

__all__ = ["cache_folder", "compile_unclaimed", "is_warm", "warm_up"]
