"""Makes setuptools build in a temporary folder: it would write beside this file, where users may not or should not write."""

import tempfile

from setuptools import setup

with tempfile.TemporaryDirectory() as folder:
    setup(options={"build": {"build_base": folder}, "egg_info": {"egg_base": folder}})
