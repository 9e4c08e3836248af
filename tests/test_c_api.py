# SPDX-License-Identifier: Apache-2.0
"""A small extension that uses fastcrypt's C functions through the capsule, without the GIL."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import fastcrypt

SOURCE = r"""
#include <fastcrypt.h>
#include <string.h>

static const struct fastcrypt_api *api;

static PyObject *digest(PyObject *self, PyObject *data) {
  uint8_t out[32];
  (void)self;
  const char *bytes = PyBytes_AS_STRING(data);
  const size_t size = (size_t)PyBytes_GET_SIZE(data);
  Py_BEGIN_ALLOW_THREADS
  api->sha256(bytes, size, out);
  Py_END_ALLOW_THREADS
  return PyBytes_FromStringAndSize((const char *)out, 32);
}

static PyObject *differ(PyObject *self, PyObject *args) {
  const char *a, *b;
  Py_ssize_t n, m;
  (void)self;
  if (!PyArg_ParseTuple(args, "y#y#", &a, &n, &b, &m)) return NULL;
  return PyLong_FromLong(api->timingsafe_bcmp(a, b, (size_t)(n < m ? n : m)));
}

/* seal(key, nonce, aad, data) -> data and tag; None where a size is refused */
static PyObject *seal(PyObject *self, PyObject *args) {
  const uint8_t *key, *nonce, *aad, *data;
  Py_ssize_t key_size, nonce_size, aad_size, size;
  int failed = -1;
  (void)self;
  if (!PyArg_ParseTuple(args, "y#y#y#y#", &key, &key_size, &nonce, &nonce_size, &aad, &aad_size,
                        &data, &size)) {
    return NULL;
  }
  PyObject *result = PyBytes_FromStringAndSize(NULL, size + 16);
  if (result == NULL) return NULL;
  uint8_t *out = (uint8_t *)PyBytes_AS_STRING(result);
  struct fastcrypt_aes_gcm_key *k = api->aes_gcm_key_new(key, (size_t)key_size);
  if (k != NULL) {
    Py_BEGIN_ALLOW_THREADS
    failed = api->aes_gcm_seal(k, nonce, (size_t)nonce_size, aad, (size_t)aad_size, data,
                               (size_t)size, out, out + size);
    Py_END_ALLOW_THREADS
  }
  api->aes_gcm_key_free(k);
  if (!failed) return result;
  Py_DECREF(result);
  Py_RETURN_NONE;
}

/* open(key, nonce, aad, sealed) -> (0 or -1, what the output then holds) */
static PyObject *open_(PyObject *self, PyObject *args) {
  const uint8_t *key, *nonce, *aad, *data;
  Py_ssize_t key_size, nonce_size, aad_size, size;
  (void)self;
  if (!PyArg_ParseTuple(args, "y#y#y#y#", &key, &key_size, &nonce, &nonce_size, &aad, &aad_size,
                        &data, &size)) {
    return NULL;
  }
  uint8_t out[256];
  memset(out, 0xee, sizeof out);
  struct fastcrypt_aes_gcm_key *k = api->aes_gcm_key_new(key, (size_t)key_size);
  const int failed = api->aes_gcm_open(k, nonce, (size_t)nonce_size, aad, (size_t)aad_size, data,
                                       (size_t)size - 16, data + size - 16, out);
  api->aes_gcm_key_free(k);
  return Py_BuildValue("(iy#)", failed, out, size - 16);
}

static PyMethodDef methods[] = {{"digest", digest, METH_O, NULL},
                                {"differ", differ, METH_VARARGS, NULL},
                                {"seal", seal, METH_VARARGS, NULL},
                                {"open", open_, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "user", NULL, -1, methods,
                                        NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_user(void) {
  api = fastcrypt_import();
  return api == NULL ? NULL : PyModule_Create(&definition);
}
"""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("user")
    source = folder / "user.c"
    source.write_text("#define PY_SSIZE_T_CLEAN\n" + SOURCE)
    module = folder / f"user{sysconfig.get_config_var('EXT_SUFFIX')}"
    includes = [f"-I{fastcrypt.get_include()}", "-isystem", sysconfig.get_path("include")]
    flags = ["-std=c11", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
    subprocess.run(["cc", *flags, *includes, str(source), "-o", str(module)], check=True)
    spec = importlib.util.spec_from_file_location("user", module)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_the_header_is_in_the_package() -> None:
    assert (Path(fastcrypt.get_include()) / "fastcrypt.h").is_file()


def test_sha256_and_compare(user: Any) -> None:
    for size in (0, 1, 55, 56, 64, 1000, 100_000):
        assert user.digest(b"m" * size) == hashlib.sha256(b"m" * size).digest()
    assert user.differ(b"same bytes", b"same bytes") == 0
    assert user.differ(b"same bytes", b"same byteS") == 1
    assert user.differ(b"", b"") == 0


@pytest.mark.parametrize("key_size", [16, 24, 32])
def test_aes_gcm(user: Any, key_size: int) -> None:
    theirs = pytest.importorskip("cryptography.hazmat.primitives.ciphers.aead")
    key, aad = bytes(range(key_size)), b"associated"
    for nonce in (bytes(12), bytes(8), bytes(20)):
        for size in (0, 1, 16, 100, 200):
            data = bytes(range(size))
            sealed = user.seal(key, nonce, aad, data)
            assert sealed == theirs.AESGCM(key).encrypt(nonce, data, aad)
            assert user.open(key, nonce, aad, sealed) == (0, data)
            forged = sealed[:-1] + bytes([sealed[-1] ^ 1])
            assert user.open(key, nonce, aad, forged) == (-1, bytes(size))


def test_sizes_that_are_refused(user: Any) -> None:
    for key_size in (0, 15, 17, 31, 33, 64):
        assert user.seal(bytes(key_size), bytes(12), b"", b"data") is None
    assert user.seal(bytes(16), b"", b"", b"data") is None
