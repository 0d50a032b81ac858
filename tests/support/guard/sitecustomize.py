"""Puts the guard on in child Python processes: the tests' PYTHONPATH holds this folder.

Children started with -I or -E don't read it; none of the tests' own does that.
"""

import sys
from importlib import import_module

loopback = import_module("loopback")
loopback.install()
# A test worker is such a child too: its tests must catch the same class that is raised here.
sys.modules["support.guard.loopback"] = loopback
