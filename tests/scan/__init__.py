# SPDX-License-Identifier: Apache-2.0
"""Searches of freed memory, of dead stack and of a whole process for secrets."""
