# SPDX-License-Identifier: Apache-2.0
"""The entry point of the `fastcrypt` command.

Beside the package, not in it: that the package cannot be imported (a wrong FASTCRYPT_CPU, a failed
self-test), or that somebody stops the command meanwhile, is a line and a status too, and no trace.
"""

from __future__ import annotations

import sys


def main() -> int:
    try:
        from fastcrypt._cli.main import main
    except ImportError as error:
        print(f"fastcrypt: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return main()
