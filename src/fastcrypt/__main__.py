# SPDX-License-Identifier: Apache-2.0
"""`python -m fastcrypt`, and the entry point of the `fastcrypt` command."""

import sys

from ._cli.main import main

if __name__ == "__main__":
    sys.exit(main())
