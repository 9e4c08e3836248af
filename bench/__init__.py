# SPDX-License-Identifier: Apache-2.0
"""Measurements of fastcrypt: see bench/README.md."""
