"""celosia: publish data about people without betraying anyone.

The same verbs as the command line, as functions on a file, a database address, a project folder or a frame
(pandas, Polars, Arrow). The public names are listed in
__init__.pyi and imported when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
