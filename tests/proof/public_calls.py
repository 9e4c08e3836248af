# SPDX-License-Identifier: Apache-2.0
"""One call of every public function, and the ops whose kernels it runs.

An expression is evaluated with `fastcrypt` and the names of NAMESPACE. tests/test_proof_traces.py fails if
a public name is in neither CALLS nor NO_KERNEL.
"""

from __future__ import annotations

import array
from dataclasses import dataclass

import fastcrypt

NAMESPACE: dict[str, object] = {
    "data": bytes(range(256)),
    "other": bytes(range(255)) + b"\0",
    "key": bytes(range(16)),
    "key32": bytes(range(32)),
    "iv": bytes(16),
    "nonce": bytes(12),
    "offsets": array.array("i", range(0, 257, 16)),
    "block": bytes(64),
    "buffer": bytearray(272),
    "HMACKey": fastcrypt.HMACKey(bytes(range(32)), "sha512"),
    "AES": fastcrypt.AES(bytes(range(16))),
    "AESGCM": fastcrypt.AESGCM(bytes(range(32))),
    "RecordCipher": fastcrypt.RecordCipher(bytes(range(32)), bytes(12)),
    "XTS": fastcrypt.AESXTS(bytes(range(32))),
    "sealed": fastcrypt.AESGCM(bytes(range(32))).encrypt(bytes(12), bytes(100), b"aad"),
    "AESGCMSIV": fastcrypt.AESGCMSIV(bytes(range(32))),
    "siv_sealed": fastcrypt.AESGCMSIV(bytes(range(32))).encrypt(bytes(12), bytes(100), b"aad"),
    "wrapped": fastcrypt.aes_key_wrap(bytes(range(16)), bytes(64)),
    "wrapped_padded": fastcrypt.aes_key_wrap_with_padding(bytes(range(16)), bytes(61)),
}


@dataclass(frozen=True)
class Call:
    """`expression` is what runs; `hot` ones must not write shared memory however often they run."""

    expression: str
    ops: frozenset[str]
    hot: bool = True
    #: Ops whose kernel runs or not: those of single streams, for what the lanes leave.
    maybe: frozenset[str] = frozenset()


def _call(expression: str, *ops: str, hot: bool = True, maybe: str = "") -> Call:
    return Call(expression, frozenset(ops), hot, frozenset(maybe.split()))


#: The hashes beside SHA-256, whose methods are one template's, and the op of each.
FAMILY = {
    "sha1": "sha1",
    "sha224": "sha256",
    "sha384": "sha512",
    "sha512": "sha512",
    "sha512_224": "sha512",
    "sha512_256": "sha512",
}

CALLS: tuple[Call, ...] = (
    _call("fastcrypt.sha256(data).digest()", "sha256_blocks"),
    _call("fastcrypt.sha256(data).hexdigest()", "sha256_blocks"),
    _call("fastcrypt.sha256(block).copy().digest()", "sha256_blocks"),
    _call("fastcrypt.sha256().update(data)", "sha256_blocks"),
    _call("fastcrypt.sha256_digest(data)", "sha256_blocks"),
    _call("fastcrypt.sha256_digest(key32)", "sha256_blocks"),
    _call("fastcrypt.sha256_hexdigest(data)", "sha256_blocks"),
    *(
        _call(expression.format(name), f"{engine}_blocks")
        for name, engine in FAMILY.items()
        for expression in (
            "fastcrypt.{0}(data).digest()",
            "fastcrypt.{0}().update(data)",
            "fastcrypt.{0}_digest(data)",
            "fastcrypt.{0}_hexdigest(key32)",
        )
    ),
    _call("fastcrypt.new('SHA-512/256', data).digest()", "sha512_blocks"),
    _call("fastcrypt.digest_parts([data, other], 'sha256')", "sha256_blocks"),
    _call("fastcrypt.sha256_file('/proc/self/exe', length=1000)", "sha256_blocks", hot=False),
    _call("fastcrypt.HMACKey(key, 'sha256')", "sha256_blocks"),
    _call("HMACKey.digest(data)", "sha512_blocks"),
    _call("HMACKey.verify(data, other)", "sha512_blocks"),
    _call("HMACKey.digest_many([data, other])", "sha512_blocks"),
    _call("HMACKey.new().digest()", "sha512_blocks"),
    _call("fastcrypt.hmac_digest(key, data, 'sha1')", "sha1_blocks"),
    _call("fastcrypt.pbkdf2_hmac('sha256', key, data, 2)", "sha256_blocks"),
    _call("fastcrypt.hkdf(key, 32)", "sha256_blocks"),
    _call("fastcrypt.hkdf_extract(key, data, 'sha256')", "sha256_blocks"),
    _call("fastcrypt.hkdf_expand(key, data, 32, 'sha256')", "sha256_blocks"),
    _call("fastcrypt.hkdf_expand_label(key, key, b'', 32, 'sha256')", "sha256_blocks"),
    _call("fastcrypt.sha256_many([key] * 16)", "sha256_lanes"),
    _call("fastcrypt.sha256_many([key] * 17 + [block])", "sha256_lanes", maybe="sha256_blocks"),
    _call("fastcrypt.sha256_rows(data, 16)", "sha256_lanes"),
    _call("fastcrypt.sha256_rows(data, 16, out=bytearray(512))", "sha256_lanes"),
    _call("fastcrypt.sha256_ragged(data, offsets)", "sha256_lanes"),
    _call("fastcrypt.merkle_root([key] * 16)", "sha256_lanes", maybe="sha256_blocks"),
    _call("fastcrypt.merkle_root([key] * 17, scheme='plain')", "sha256_lanes", maybe="sha256_blocks"),
    _call("fastcrypt.timingsafe_bcmp(data, other)", "timingsafe_bcmp"),
    _call("fastcrypt.timingsafe_memcmp(data, other)", "timingsafe_memcmp"),
    _call("fastcrypt.compare_digest(data, other)", "timingsafe_bcmp"),
    _call("fastcrypt.timingsafe_equal(data, other)", "timingsafe_bcmp"),
    _call("fastcrypt.AES(key)", "aes"),
    _call("AES.ecb_encrypt(data)", "aes"),
    _call("AES.ecb_decrypt(data)", "aes"),
    _call("AES.cbc_encrypt(iv, data, padding='pkcs7')", "aes"),
    _call("AES.cbc_decrypt(iv, data)", "aes"),
    _call("AES.ctr(iv, data)", "aes"),
    _call("AES.cbc_encrypt_many([iv, iv], [data, block])", "aes"),
    _call("AES.cbc_encryptor(iv, 'pkcs7').update(data)", "aes"),
    _call("AES.cbc_decryptor(iv).update(data)", "aes"),
    _call("AES.cbc_encryptor(iv, 'pkcs7').finalize()", "aes"),
    _call("AES.ctr_encryptor(iv).update_into(data, buffer)", "aes"),
    _call("AES.ctr_decryptor(iv).update(block)", "aes"),
    _call("fastcrypt.AESXTS(key32)", "aes", "timingsafe_bcmp"),
    _call("XTS.encrypt(iv, data[:250])", "aes"),
    _call("XTS.decrypt(iv, data[:250])", "aes"),
    _call("fastcrypt.AESGCM(key32)", "aes"),
    _call("AESGCM.encrypt(nonce, data, b'aad')", "aes"),
    _call("AESGCM.encrypt_into(nonce, data, None, buffer)", "aes"),
    _call("AESGCM.encrypt_detached(nonce, data, b'aad')", "aes"),
    _call("AESGCM.decrypt(nonce, sealed, b'aad')", "aes", "timingsafe_bcmp"),
    _call("AESGCM.decrypt_into(nonce, sealed, b'aad', memoryview(buffer)[:100])", "aes", "timingsafe_bcmp"),
    _call("AESGCM.decrypt_detached(nonce, sealed[:-16], sealed[-16:], b'aad')", "aes", "timingsafe_bcmp"),
    _call("AESGCM.encrypt(iv, data, None)", "aes"),
    _call("AESGCM.encrypt_many(nonce * 4, data, record_size=64)", "aes"),
    _call("AESGCM.encrypt_many([nonce, iv], [data, block], b'aad')", "aes"),
    _call("AESGCM.decrypt_many([nonce], [sealed], b'aad')", "aes", "timingsafe_bcmp"),
    _call("fastcrypt.RecordCipher(key32, nonce)", "aes"),
    _call("RecordCipher.seal(data, b'aad')", "aes"),
    _call("RecordCipher.seal_into(data, b'aad', buffer)", "aes"),
    _call("RecordCipher.open(0, sealed, b'aad')", "aes", "timingsafe_bcmp"),
    _call("AESGCM.encryptor(nonce, b'aad').update(data)", "aes"),
    _call("AESGCM.encryptor(nonce).update_into(data, memoryview(buffer)[:256])", "aes"),
    _call("AESGCM.encryptor(nonce, b'aad').finalize()", "aes"),
    _call("AESGCM.decryptor(nonce, b'aad').update(data)", "aes"),
    _call(
        "(lambda d: (d.update(sealed[:-16]), d.finalize(sealed[-16:])))(AESGCM.decryptor(nonce, b'aad'))",
        "aes",
        "timingsafe_bcmp",
    ),
    *(
        _call(f"fastcrypt.aes_encrypt(key, data, mode={mode!r}, iv={iv})", "aes")
        for mode, iv in (("ecb", "None"), ("cbc", "iv"), ("ctr", "iv"), ("gcm", "nonce"))
    ),
    *(
        _call(f"fastcrypt.aes_decrypt(key, data, mode={mode!r}, iv={iv})", "aes")
        for mode, iv in (("ecb", "None"), ("cbc", "iv"), ("ctr", "iv"))
    ),
    _call("fastcrypt.aes_decrypt(key32, sealed, mode='gcm', iv=nonce, aad=b'aad')", "aes", "timingsafe_bcmp"),
    _call("fastcrypt.AESGCMSIV(key32)", "aes"),
    _call("AESGCMSIV.encrypt(nonce, data, b'aad')", "aes"),
    _call("AESGCMSIV.encrypt_into(nonce, data, None, buffer)", "aes"),
    _call("AESGCMSIV.decrypt(nonce, siv_sealed, b'aad')", "aes", "timingsafe_bcmp"),
    _call(
        "AESGCMSIV.decrypt_into(nonce, siv_sealed, b'aad', memoryview(buffer)[:100])",
        "aes",
        "timingsafe_bcmp",
    ),
    _call("fastcrypt.aes_cmac(key32, data)", "aes"),
    _call("fastcrypt.aes_key_wrap(key32, data)", "aes"),
    _call("fastcrypt.aes_key_unwrap(key, wrapped)", "aes", "timingsafe_bcmp"),
    _call("fastcrypt.aes_key_wrap_with_padding(key32, data)", "aes"),
    _call("fastcrypt.aes_key_unwrap_with_padding(key, wrapped_padded)", "aes"),
)

#: Public names that run no kernel of their own, or all of them: name -> why.
NO_KERNEL: dict[str, str] = {
    "build_info": "facts of the build",
    "cpu_features": "facts of the CPU",
    "kernels": "the names of what was chosen",
    "self_test": "runs every row, chosen or not",
    "InvalidTag": "an exception",
    "InvalidUnwrap": "an exception",
    "get_include": "the directory of a header",
    "__version__": "a string",
}
