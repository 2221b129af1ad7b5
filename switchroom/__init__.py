"""The one name that an installation adds to Python; the packages of the programs lie below it.

Other projects have an `api` or an `engine`, too. So the wheel has these packages in a folder that
only our own commands search (docs/architecture.md). In a clone they lie beside this package.
"""

import sys
from pathlib import Path

PACKAGES = Path(__file__).with_name("packages")

if PACKAGES.is_dir():
    sys.path.insert(0, str(PACKAGES))
