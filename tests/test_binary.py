# SPDX-License-Identifier: Apache-2.0
"""The hardening of the built module, read from its bytes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from proof import isa, module
from proof.disassembly import Function
from proof.heads import all_heads, head_of

ROOT = Path(__file__).resolve().parents[1]
OBJECTS = ROOT / "build/objects"

IBT_AND_SHSTK = 3

#: What the C code takes from the C library. Anything else needs a reason here.
C_LIBRARY = {
    "memcpy": "copies of public lengths",
    "memset": "fills of public lengths",
    "memmove": "copies within an object's buffer; std::string",
    "memcmp": "names of digests and features, never secrets; std::string",
    "strlen": "names and error texts",
    "strcmp": "names of digests, features and kernels",
    "strncmp": "words of FASTCRYPT_CPU",
    "strcspn": "words of FASTCRYPT_CPU",
    "strncpy": "the word that an ImportError names",
    "strchr": "pybind11 signatures",
    "strdup": "pybind11 function records",
    "free": "pybind11 function records",
    "getenv": "FASTCRYPT_CPU, once, before the table is sealed",
    "mprotect": "sealing the table",
    "sysconf": "the page size, before sealing",
    "sched_yield": "a second importer waits while the first fills the table",
    "pthread_mutex_lock": "pybind11 internals, on import",
    "pthread_mutex_unlock": "pybind11 internals, on import",
    "strerror": "an ImportError where forks cannot be watched",
    "pthread_once": "watching forks, once, before the table is sealed",
    "__register_atfork": "pthread_atfork: a RecordCipher does not seal in a forked child",
    "__stack_chk_fail": "the stack protector",
    "__tls_get_addr": "pybind11's life support",
    "__cxa_finalize": "crtbegin: destructors when the module is unloaded",
    "__gmon_start__": "crti: absent unless profiled (weak)",
    "_ITM_deregisterTMCloneTable": "crtbegin: absent (weak)",
    "_ITM_registerTMCloneTable": "crtbegin: absent (weak)",
    "__libc_single_threaded": "std::shared_ptr",
}

#: Present or not by compiler and Python version.
C_LIBRARY_AT_TIMES = {
    "bcmp": "what clang makes of memcmp() == 0",
    "abort": "std::terminate where the compiler inlines it",
    "__tls_get_addr": C_LIBRARY["__tls_get_addr"],
    "pthread_key_create": "pybind11's thread state, before Python 3.12",
    "fprintf": "pybind11, when destroying internals fails",
    "stderr": "pybind11, when destroying internals fails",
    "snprintf": "error texts with a length",
    "vsnprintf": "error texts with a length",
    "open": "sha256_file and file_digest",
    "open64": "sha256_file and file_digest",
    "close": "sha256_file and file_digest",
    "read": "sha256_file and file_digest",
    "pread": "sha256_file and file_digest",
    "pread64": "sha256_file and file_digest",
    "fstat": "sha256_file and file_digest",
    "__errno_location": "sha256_file and file_digest",
    "malloc": "scratch of the many-message functions, outside the interpreter",
    "calloc": "scratch of the many-message functions, outside the interpreter",
    "pthread_create": "threads= of the many-message functions",
    "pthread_join": "threads= of the many-message functions",
    "__memcpy_chk": "memcpy under _FORTIFY_SOURCE",
    "__memmove_chk": "memmove under _FORTIFY_SOURCE",
    "__memset_chk": "memset under _FORTIFY_SOURCE",
    "__strncpy_chk": "strncpy under _FORTIFY_SOURCE",
    "__snprintf_chk": "snprintf under _FORTIFY_SOURCE",
}

#: What pybind11 takes from the C++ library and the compiler's run time.
CXX_LIBRARY = (
    (r"_Unwind_Resume|__gxx_personality_v0|__cxa_\w+|__dynamic_cast", "exceptions and casts"),
    (r"_ZNK?St7__cxx1112basic_string\w+", "std::string in pybind11 and in the cold functions"),
    (r"_ZN?K?St\d+(runtime_error|bad_alloc|exception|logic_error|out_of_range)\w+", "exceptions"),
    (r"_ZNSt15__exception_ptr\w+|_ZSt17(current|rethrow)_exceptionv?\w*", "exceptions"),
    (r"_ZSt\d+__throw_\w+|_ZSt9terminatev", "errors of the containers"),
    (r"_ZT[ISV]\w+", "type information and vtables of the standard exceptions"),
    (r"_Zn[wa]m\w*|_Zd[la]Pv\w*", "new and delete"),
    (r"_ZNKSt8__detail20_Prime_rehash_policy\w+|_ZSt11_Hash_bytesPKvmm", "std::unordered_map"),
)

#: Names of Python's that are not public API, and what needs them.
PRIVATE_PYTHON = {
    "_PyBytes_Resize": "bytes whose length is known late; documented, and without a public twin",
    "_PyObject_CallMethod_SizeT": "PyObject_CallMethod, a macro before 3.13",
    "_Py_BuildValue_SizeT": "Py_BuildValue, a macro before 3.13",
    "_PyObject_GetDictPtr": "pybind11",
    "_PyObject_New": "PyObject_New, a macro",
    "_PyThreadState_UncheckedGet": "pybind11",
    "_PyType_Lookup": "pybind11",
    "_PyUnicode_Ready": "PyUnicode_READY, a macro before 3.12",
    "_Py_Dealloc": "Py_DECREF",
    "_Py_FalseStruct": "Py_False",
    "_Py_NoneStruct": "Py_None",
    "_Py_NotImplementedStruct": "Py_NotImplemented",
    "_Py_TrueStruct": "Py_True",
    "_Py_MergeZeroLocalRefcount": "Py_DECREF without a GIL",
    "_Py_DecRefShared": "Py_DECREF without a GIL",
    "_Py_IncRefShared": "Py_INCREF without a GIL",
    "_Py_DecRefSharedDebug": "Py_DECREF without a GIL, debug",
    "_Py_NegativeRefcount": "Py_DECREF, debug",
    "_Py_RefTotal": "Py_INCREF, debug",
    "_Py_INCREF_IncRefTotal": "Py_INCREF, debug",
    "_Py_DECREF_DecRefTotal": "Py_DECREF, debug",
}

#: What may lie in memory that stays writable after the module is loaded.
WRITABLE = (
    (r"fc_sealed", "the table: sealed at run time, page by page"),
    (
        r"once\.\d+|watch_error|process_generation",
        "forks: written on import, and by a forked child in its copy",
    ),
    (r"completed\.\d+|__dso_handle|__TMC_END__", "crtbegin"),
    (r"DW\.ref\..*", "exceptions"),
    (r"_ZGV.*|_ZZN?K?8pybind11.*|_ZN8pybind11.*", "pybind11"),
    (r"_Z(GV)?Z12PyInit__core\w+", "the module's definition"),
    (r"_ZZ?N2fc.*", "method tables and type specifications, which Python's API takes as writable"),
)


@pytest.fixture(scope="module")
def elf() -> Any:
    with module.path().open("rb") as stream:
        yield ELFFile(stream)


@pytest.fixture(scope="module")
def objects() -> list[Path]:
    """Every object of the module, built anew by the project's own build where one is missing."""
    command = [sys.executable, "setup.py", "-q", "build_ext"]
    command += ["--build-temp", str(OBJECTS), "--build-lib", str(OBJECTS / "lib")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return [p for p in sorted(OBJECTS.rglob("*.o")) if "probe" not in p.parts]


def properties(path: Path) -> int:
    """The x86 feature bits (IBT 1, SHSTK 2) of a file's GNU property note; 0 without one."""
    with path.open("rb") as stream:
        section: Any = ELFFile(stream).get_section_by_name(".note.gnu.property")
        if section is None:
            return 0
        for note in section.iter_notes():
            for entry in note["n_desc"] if note["n_type"] == "NT_GNU_PROPERTY_TYPE_0" else ():
                if entry["pr_type"] == "GNU_PROPERTY_X86_FEATURE_1_AND":
                    return int(entry["pr_data"])
    return 0


def test_every_object_is_ready_for_cet(objects: list[Path]) -> None:
    expected = [*(ROOT / "asm/x86_64").glob("*.S"), *(ROOT / "csrc").rglob("*.c*")]
    assert len(objects) == len(expected)
    without = [p.name for p in objects if properties(p) & IBT_AND_SHSTK != IBT_AND_SHSTK]
    assert without == []


def test_stack_is_not_executable(elf: Any) -> None:
    stacks = [s for s in elf.iter_segments() if s["p_type"] == "PT_GNU_STACK"]
    assert [s["p_flags"] & 1 for s in stacks] == [0]


def test_no_segment_is_writable_and_executable(elf: Any) -> None:
    assert [s for s in elf.iter_segments("PT_LOAD") if s["p_flags"] & 3 == 3] == []


def dynamic_flags(elf: Any, tag: str) -> int:
    entries = elf.get_section_by_name(".dynamic").iter_tags(tag)
    return next((int(e["d_val"]) for e in entries), 0)


def test_relocations_are_read_only_and_bound_at_once(elf: Any) -> None:
    bind_now, now = 8, 1
    assert dynamic_flags(elf, "DT_FLAGS") & bind_now
    assert dynamic_flags(elf, "DT_FLAGS_1") & now
    (relro,) = [s for s in elf.iter_segments() if s["p_type"] == "PT_GNU_RELRO"]
    for name in (".got", ".data.rel.ro", ".dynamic", ".init_array"):
        section = elf.get_section_by_name(name)
        assert relro["p_vaddr"] <= section["sh_addr"], name
        assert section["sh_addr"] + section["sh_size"] <= relro["p_vaddr"] + relro["p_memsz"], name


def test_no_text_relocations(elf: Any) -> None:
    textrel = 4
    assert not list(elf.get_section_by_name(".dynamic").iter_tags("DT_TEXTREL"))
    assert not dynamic_flags(elf, "DT_FLAGS") & textrel


def dynamic_symbols(elf: Any) -> list[Any]:
    return [s for s in elf.get_section_by_name(".dynsym").iter_symbols() if s.name]


def test_only_the_entry_point_is_exported(elf: Any) -> None:
    exported = {s.name for s in dynamic_symbols(elf) if s["st_shndx"] != "SHN_UNDEF"}
    assert exported == {"PyInit__core"}


def imported(elf: Any) -> set[str]:
    return {s.name for s in dynamic_symbols(elf) if s["st_shndx"] == "SHN_UNDEF"}


def test_imports_are_the_reviewed_ones(elf: Any) -> None:
    known = {*C_LIBRARY, *C_LIBRARY_AT_TIMES, *PRIVATE_PYTHON}
    patterns = [re.compile(p) for p, _ in CXX_LIBRARY] + [re.compile(r"Py[A-Z_]\w+")]
    unknown = {n for n in imported(elf) - known if not any(p.fullmatch(n) for p in patterns)}
    assert unknown == set()


def test_the_reviewed_imports_are_needed(elf: Any) -> None:
    always = set(C_LIBRARY) - set(C_LIBRARY_AT_TIMES)
    assert always - imported(elf) == set()


def test_nothing_runs_before_the_entry_point_but_frame_registration(elf: Any) -> None:
    section = elf.get_section_by_name(".init_array")
    data = section.data()
    pointers = [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]
    assert [module.image().name_at(p) for p in pointers] == ["frame_dummy"]


def test_writable_data_is_reviewed(elf: Any) -> None:
    sections = {i for i, s in enumerate(elf.iter_sections()) if s.name in (".data", ".bss", ".tbss")}
    names = {
        s.name
        for s in elf.get_section_by_name(".symtab").iter_symbols()
        if s["st_shndx"] in sections and s["st_info"]["type"] in ("STT_OBJECT", "STT_TLS") and s["st_size"]
    }
    unknown = {n for n in names if not any(re.fullmatch(p, n) for p, _ in WRITABLE)}
    assert unknown == set()
    assert "fc_sealed" in names


def functions() -> list[Function]:
    image = module.image()
    return [image.function(name) for name, (_, size) in image.symbols.items() if size]


def test_code_outside_assembly_runs_on_every_cpu() -> None:
    """No AVX, and nothing else beyond the baseline, in what a compiler made."""
    compiled = [f for f in functions() if head_of(f.name) is None]
    assert len(compiled) > 50
    beyond = [problem for f in compiled for problem in isa.beyond(f, frozenset())]
    assert beyond == []


def test_assembly_uses_what_its_rows_require() -> None:
    for row in module.rows():
        for symbol in row.symbols if row.built else ():
            for function in module.image().reached_from(symbol)[0]:
                assert isa.beyond(function, row.features) == [], row


def test_every_assembly_function_belongs_to_a_row() -> None:
    image = module.image()
    reached = {
        f.name
        for row in module.rows()
        for symbol in row.symbols
        if row.built
        for f in image.reached_from(symbol)[0]
    }
    assembled = {name for name in image.symbols if name in all_heads()}
    assert assembled - reached == set()


def test_rows_without_avx512_have_no_evex_instruction() -> None:
    for row in module.rows():
        if not row.built or any(f.startswith("avx512") for f in row.features):
            continue
        for symbol in row.symbols:
            for function in module.image().reached_from(symbol)[0]:
                assert not [str(i) for i in function.instructions if i.is_evex], symbol
