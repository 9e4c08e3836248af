# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.proof`: a table of kernel by check, each cell proven by a machine."""
