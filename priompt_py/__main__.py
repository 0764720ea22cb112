"""``python -m priompt_py``: the command ``priompt``."""

import sys

from priompt_py.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
