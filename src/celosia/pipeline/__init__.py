"""The whole path of a release, from a raw source to a published folder that anybody can verify.

Each sub-package is one stage and imports only the stages before it: project, intake, planning, assessment, candidate,
intruder, release. They ask a Table for tuples and hand arrays to the algorithms.
"""
