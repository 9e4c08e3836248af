# SPDX-License-Identifier: Apache-2.0
"""The library on processors that this machine is not: see README.md."""
