# SPDX-License-Identifier: Apache-2.0
"""Which instructions a kernel may use, and why: reviewed by hand, never generated.

The question for each is whether its time depends on the values of its operands. The answers come from
Intel's list of instructions with data-operand-independent timing (the "DOIT" list) and, for what AMD
does differently, from its optimisation guides. A mnemonic that is not here is refused; one that must
never come here is in REFUSED, with the reason that the check prints.
"""

from __future__ import annotations

import re

#: (reason, mnemonics). Spelling as capstone prints it in Intel syntax.
ALLOWED: tuple[tuple[str, str], ...] = (
    (
        "Copies between registers and memory. On the DOIT list; what an address is made of is a "
        "question for the check of addresses, not for this one.",
        "mov movabs movzx movsx movsxd movbe push pop lea "
        "movd movq movdqa movdqu movaps movups movapd movupd movhps movlps movhpd movlpd "
        "movhlps movlhps",
    ),
    (
        "The same in VEX and EVEX form.",
        "vmovd vmovq vmovdqa vmovdqu vmovaps vmovups vmovapd vmovupd vmovhps vmovlps "
        "vmovdqa32 vmovdqa64 vmovdqu8 vmovdqu16 vmovdqu32 vmovdqu64",
    ),
    (
        "A choice as data flow: both values are read and the time is that of an addition. DOIT list.",
        "cmove cmovne cmovb cmovae cmovbe cmova cmovs cmovns cmovl cmovge cmovle cmovg cmovo cmovno "
        "sete setne setb setae setbe seta sets setns setl setge setle setg seto setno",
    ),
    (
        "Integer arithmetic and logic in one or two cycles whatever the values. DOIT list.",
        "add adc sub sbb and or xor not neg inc dec cmp test bswap andn xchg",
    ),
    (
        "Shifts and rotates, by a constant or by cl: a barrel shifter takes every count in the same "
        "time. DOIT list. (rcl and rcr loop over the count: refused.)",
        "shl shr sar rol ror shld shrd rorx shlx shrx sarx",
    ),
    (
        "Integer multiplication, 64 x 64 bits. On the DOIT list for Intel, and of constant latency on "
        "every AMD processor since K8; the portable GHASH multiplies with masked integers. (The vector "
        "multiplications are not in this group, see REFUSED.)",
        "mul imul mulx adcx adox",
    ),
    (
        "Bit fields by masks. bzhi is on the DOIT list and one cycle on Zen; the compare kernels make "
        "AVX-512 masks from public lengths with it.",
        "bzhi",
    ),
    (
        "Control. Which jumps may be taken on what is the check of branches; targets are constants.",
        "jmp je jne jb jae jbe ja js jns jl jge jle jg jo jno call ret endbr64 nop",
    ),
    (
        "Vector logic and comparison, lane by lane. DOIT list.",
        "pxor por pand pandn xorps xorpd orps orpd andps andpd andnps andnpd "
        "pcmpeqb pcmpeqw pcmpeqd pcmpeqq pcmpgtb pcmpgtw pcmpgtd pminub pmaxub "
        "ptest pmovmskb movmskps movmskpd",
    ),
    (
        "The same in VEX and EVEX form; the ternary logic of AVX-512, and its masks.",
        "vpxor vpor vpand vpandn vxorps vorps vandps vandnps vpxord vpxorq vpord vporq vpandd vpandq "
        "vpandnd vpandnq vpternlogd vpternlogq vpcmpeqb vpcmpeqw vpcmpeqd vpcmpeqq vpcmpgtb vpcmpgtd "
        "vpcmpub vpcmpb vpcmpneqb vpcmpneqq vpcmpq vpcmpuq vptestmb vptestmd vptestmq vptestnmb "
        "vpminub vpmaxub vptest vpmovmskb vmovmskps "
        "kmovb kmovw kmovd kmovq korb korw kord korq kandb kandw kandd kandq kxorw kxord kxorq "
        "kortestb kortestw kortestd kortestq ktestb ktestw ktestd ktestq kunpckbw kunpckwd kunpckdq",
    ),
    (
        "Vector addition and subtraction, modulo the lane. DOIT list.",
        "paddb paddw paddd paddq psubb psubw psubd psubq "
        "vpaddb vpaddw vpaddd vpaddq vpsubb vpsubw vpsubd vpsubq",
    ),
    (
        "Vector shifts and rotates. DOIT list.",
        "psllw pslld psllq psrlw psrld psrlq psraw psrad pslldq psrldq "
        "vpsllw vpslld vpsllq vpsrlw vpsrld vpsrlq vpsraw vpsrad vpslldq vpsrldq "
        "vpsllvd vpsllvq vpsrlvd vpsrlvq vprold vprolq vprord vprorq",
    ),
    (
        "Permutations. Register to register by a constant or by a vector of indices (pshufb: the "
        "look-up in a table that is a register, one cycle for every index, no cache). DOIT list.",
        "pshufb pshufd pshuflw pshufhw shufps shufpd palignr punpcklbw punpckhbw punpcklwd punpckhwd "
        "punpckldq punpckhdq punpcklqdq punpckhqdq unpcklps unpckhps unpcklpd unpckhpd "
        "packuswb packssdw packusdw pblendw blendps pblendvb pmovzxbw pmovzxbd pmovzxwd pmovzxdq "
        "pinsrb pinsrw pinsrd pinsrq pextrb pextrw pextrd pextrq insertps extractps",
    ),
    (
        "The same in VEX and EVEX form, and moves between 128-bit lanes.",
        "vpshufb vpshufd vpshuflw vpshufhw vshufps vshufpd vpalignr vpunpcklbw vpunpckhbw vpunpcklwd "
        "vpunpckhwd vpunpckldq vpunpckhdq vpunpcklqdq vpunpckhqdq vunpcklps vunpckhps "
        "vpackuswb vpackssdw vpackusdw vpblendw vpblendd vblendps vpblendvb vpmovzxbw vpmovzxdq "
        "vpinsrb vpinsrw vpinsrd vpinsrq vpextrb vpextrw vpextrd vpextrq "
        "vpbroadcastb vpbroadcastw vpbroadcastd vpbroadcastq vbroadcasti128 vbroadcastf128 "
        "vbroadcasti32x4 vbroadcasti64x2 vbroadcasti64x4 "
        "vinserti128 vextracti128 vinserti32x4 vinserti64x2 vinserti64x4 vextracti32x4 vextracti64x2 "
        "vextracti64x4 vperm2i128 vperm2f128 vpermq vpermd vpermb vpermi2q vpermt2q vpermi2d vpermt2d "
        "vshufi32x4 vshufi64x2 valignd valignq",
    ),
    (
        "The cipher and hash instructions: made to take the same time for every key and block. DOIT list.",
        "aesenc aesenclast aesdec aesdeclast aesimc aeskeygenassist "
        "vaesenc vaesenclast vaesdec vaesdeclast vaesimc vaeskeygenassist "
        "sha1rnds4 sha1nexte sha1msg1 sha1msg2 sha256rnds2 sha256msg1 sha256msg2",
    ),
    (
        "Multiplication of polynomials over GF(2). On the DOIT list, not among the multiplications that "
        "MXCSR can make data-dependent.",
        "pclmulqdq vpclmulqdq gf2p8affineqb vgf2p8affineqb gf2p8mulb vgf2p8mulb",
    ),
    (
        "The end of the AVX state: no operands.",
        "vzeroupper vzeroall",
    ),
)

#: Compilers fill and copy whole objects so (an inlined memset or memcpy). The time depends on the count and
#: the addresses, never on the bytes; the tracer steps through every repetition, so a count that were secret
#: would show as a trace of another length. Refused in assembly.
ALLOWED_IN_C = ("rep stosq", "rep movsq")

#: Never allowed: a pattern of mnemonics and the reason.
REFUSED: tuple[tuple[str, str], ...] = (
    (r"i?div", "division takes longer for larger quotients"),
    (r"v?(div|sqrt|rcp|rsqrt).*", "floating-point division and roots depend on the values"),
    (
        r"v?p(mul|madd).*|vplzcnt.*|vpmullq",
        "its timing may depend on the data when MXCSR is configured so (Intel, MXCDT)",
    ),
    (r"v?p?gather.*|v?p?scatter.*", "a gather loads from addresses that are data"),
    (r"rc[lr]", "loops over its count"),
    (r"bs[fr]|[lt]zcnt", "not needed, and microcoded with data-dependent time on some processors"),
    (r"pdep|pext", "microcoded with data-dependent time before Zen 3"),
    (r"rep.*|(lods|stos|movs|cmps|scas)[bwdq]", "a string instruction: its time depends on count and bytes"),
    (r"loop.*|j.?cxz", "a slow jump on a register that may not be public"),
    (r"v?maskmov.*|v?pmaskmov.*", "a masked store is a sequence that depends on its mask"),
    (r"f\w+|emms", "x87 and MMX"),
    (r"cpuid|rd\w+|xgetbv|syscall|int\d?|lock.*", "has no place in a kernel"),
)

REASON: dict[str, str] = {mnemonic: reason for reason, mnemonics in ALLOWED for mnemonic in mnemonics.split()}


def why_refused(mnemonic: str) -> str | None:
    """None if a kernel may use the mnemonic, else the reason why not."""
    bare = mnemonic.removeprefix("notrack ").removeprefix("bnd ")
    if bare in REASON:
        return None
    for pattern, reason in REFUSED:
        if re.fullmatch(pattern, bare):
            return reason
    return "not on the reviewed list in tests/proof/mnemonics.py"
