"""The version, in one place: the build, the command line and `celosia.__version__` read it here."""

__version__ = "0.1.0.dev0"
