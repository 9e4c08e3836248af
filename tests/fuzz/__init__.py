# SPDX-License-Identifier: Apache-2.0
"""Differential fuzzing: the kernels and what is above them in C, and the Python API."""
