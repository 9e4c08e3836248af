# SPDX-License-Identifier: Apache-2.0
"""Mutants of every kernel, and whether the kernel tests kill them."""
