# SPDX-License-Identifier: Apache-2.0
"""The `fastcrypt` command. Nothing here is loaded by `import fastcrypt`."""
