# SPDX-License-Identifier: Apache-2.0
"""`python -m fastcrypt`: the same as the `fastcrypt` command."""

import sys

from ._cli.main import main

if __name__ == "__main__":
    sys.exit(main())
