/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime of the bare-metal image: see runtime.h. Everything here runs with interrupts off. */
#include "runtime.h"

#include <cpuid.h>
#include <stdarg.h>
#include <string.h>

int main(void);
void image_main(void);

/* ---- What the compiler may call -------------------------------------------------------------- */

void *memcpy(void *restrict to, const void *restrict from, size_t len) {
  void *p = to;
  __asm__ volatile("rep movsb" : "+D"(p), "+S"(from), "+c"(len) : : "memory");
  return to;
}

void *memset(void *to, int value, size_t len) {
  void *p = to;
  __asm__ volatile("rep stosb" : "+D"(p), "+c"(len) : "a"(value) : "memory");
  return to;
}

/* Not by a loop in C: the compiler would make that loop a call of memmove. */
void *memmove(void *to, const void *from, size_t len) {
  if (PTR(to) - PTR(from) >= len) return memcpy(to, from, len);
  uint8_t *last_to = (uint8_t *)to + len - 1;
  const uint8_t *last_from = (const uint8_t *)from + len - 1;
  __asm__ volatile("std; rep movsb; cld"
                   : "+D"(last_to), "+S"(last_from), "+c"(len)
                   :
                   : "memory", "cc");
  return to;
}

static uint64_t load_word(const uint8_t *p) {
  uint64_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return word;
}

/* By words while they are equal: most of an emulated run would be spent here otherwise. */
int memcmp(const void *a, const void *b, size_t len) {
  const uint8_t *x = a, *y = b;
  size_t i = 0;
  while (len - i >= 8 && load_word(x + i) == load_word(y + i)) i += 8;
  for (; i < len; i++) {
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  }
  return 0;
}

int strcmp(const char *a, const char *b) {
  size_t i = 0;
  while (a[i] != 0 && a[i] == b[i]) i++;
  return (uint8_t)a[i] - (uint8_t)b[i];
}

/* ---- Output and the end ---------------------------------------------------------------------- */

enum { PORT_OUTPUT = 0xe9, PORT_SHUTDOWN = 0x8900 };

static void port_write(uint16_t port, char c) {
  __asm__ volatile("outb %0, %1" : : "a"(c), "Nd"(port));
}

static void put_text(const char *s) {
  for (; *s != 0; s++) port_write(PORT_OUTPUT, *s);
}

static void put_number(uint64_t n, unsigned base) {
  char digits[24];
  size_t i = sizeof digits;
  digits[--i] = 0;
  do {
    digits[--i] = "0123456789abcdef"[n % base];
    n /= base;
  } while (n != 0);
  put_text(digits + i);
}

static void put_format(const char *format, va_list list) {
  for (; *format != 0; format++) {
    if (*format != '%') {
      port_write(PORT_OUTPUT, *format);
      continue;
    }
    switch (*++format) {
      case 's':
        put_text(va_arg(list, const char *));
        break;
      case 'u':
        put_number(va_arg(list, uint64_t), 10);
        break;
      default:
        put_text("0x");
        put_number(va_arg(list, uint64_t), 16);
        break;
    }
  }
  port_write(PORT_OUTPUT, '\n');
}

/* A broken kernel fails thousands of times; the first few between two lines of say tell all. */
enum { MAX_FAILURES_SHOWN = 8 };
static uint64_t failure_count, failures_shown;
static int failures_silent;

void say(const char *format, ...) {
  va_list list;
  failures_shown = 0;
  va_start(list, format);
  put_text("fc: ");
  put_format(format, list);
  va_end(list);
}

void fail(const char *format, ...) {
  va_list list;
  failure_count++;
  if (failures_silent || ++failures_shown > MAX_FAILURES_SHOWN) return;
  va_start(list, format);
  put_text("fc: FAIL ");
  put_format(format, list);
  va_end(list);
}

uint64_t failures_so_far(void) {
  return failure_count;
}

uint64_t failures_in(void (*run)(void)) {
  const uint64_t before = failure_count;
  failures_silent = 1;
  run();
  failures_silent = 0;
  const uint64_t found = failure_count - before;
  failure_count = before;
  return found;
}

static _Noreturn void finish(int passed) {
  say("end %s failures=%u instructions=%u", passed ? "pass" : "fail", failure_count,
      __builtin_ia32_rdtsc());
  for (const char *s = "Shutdown"; *s != 0; s++) port_write(PORT_SHUTDOWN, *s);
  for (;;) __asm__ volatile("hlt");
}

/* ---- Pseudo-random bytes --------------------------------------------------------------------- */

static uint64_t random_state = 1;

void random_seed(uint64_t seed) {
  random_state = seed * 2 + 1;
}

/* A linear congruential generator whose high half is folded into the low one. */
uint64_t random_word(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return random_state ^ random_state >> 32;
}

void random_fill(void *p, size_t len) {
  uint8_t *bytes = p;
  size_t i = 0;
  for (; len - i >= 8; i += 8) {
    const uint64_t word = random_word();
    __builtin_memcpy(bytes + i, &word, 8);
  }
  for (; i < len; i++) bytes[i] = (uint8_t)(random_word() >> 24);
}

/* ---- Page tables ----------------------------------------------------------------------------- */

enum { PAGE = 4096, MAPPED_PAGES = 4096 }; /* 16 MiB; every page beyond, and page 0, is absent */

#define PAGE_PRESENT ((uint64_t)1)
#define PAGE_WRITE ((uint64_t)2)
#define PAGE_NO_EXECUTE ((uint64_t)1 << 63)
#define PAGE_DATA (PAGE_PRESENT | PAGE_WRITE | PAGE_NO_EXECUTE)

/* Regions outside the image. The guards of the stacks are the absent pages below them. */
#define STACK_LARGE_START 0x600000u
#define STACK_LARGE_END 0x620000u
#define STACK_KERNEL_START 0x700000u
#define ARENA_FIRST_PAGE 2048u

static _Alignas(4096) uint64_t pml4[512], pdpt[512], pd[512], pt[MAPPED_PAGES];

extern const uint8_t image_start[], image_rodata[], image_data[], image_end[];

static void flush_page(const void *p) {
  __asm__ volatile("invlpg %0" : : "m"(*(const uint8_t *)p) : "memory");
}

static void map(uint64_t start, uint64_t end, uint64_t flags) {
  for (uint64_t a = start; a < end; a += PAGE) pt[a / PAGE] = a | flags;
}

static void map_memory(void) {
  pml4[0] = PTR(pdpt) | PAGE_PRESENT | PAGE_WRITE;
  pdpt[0] = PTR(pd) | PAGE_PRESENT | PAGE_WRITE;
  for (size_t i = 0; i < MAPPED_PAGES / 512; i++) {
    pd[i] = PTR(pt + 512 * i) | PAGE_PRESENT | PAGE_WRITE;
  }
  map(PTR(image_start), PTR(image_rodata), PAGE_PRESENT);
  map(PTR(image_rodata), PTR(image_data), PAGE_PRESENT | PAGE_NO_EXECUTE);
  map(PTR(image_data), PTR(image_end), PAGE_DATA);
  map(STACK_LARGE_START, STACK_LARGE_END, PAGE_DATA);
  map(STACK_KERNEL_START, STACK_KERNEL_START + PAGE, PAGE_DATA);
  __asm__ volatile("movq %0, %%cr3" : : "r"(pml4) : "memory");
}

/* ---- Guarded memory -------------------------------------------------------------------------- */

/* SLACK fills the SLACK_BYTES of its pages next to a buffer, as far as there are any. */
enum { MAX_BUFFERS = 24, SLACK = 0xa5, SLACK_BYTES = 128 };

static struct buffer {
  uint8_t *first, *last; /* bounds of the pages */
  uint8_t *p;
  uint8_t *slack, *slack_last; /* of the buffer and its slack */
  size_t len;
} buffers[MAX_BUFFERS];
static size_t buffer_count;
static uint64_t next_page = ARENA_FIRST_PAGE + 1;

uint8_t *guard_alloc(size_t len, enum guard_end end) {
  const uint64_t pages = (len + PAGE - 1) / PAGE;
  uint8_t *first = (uint8_t *)(next_page * PAGE), *last = first + pages * PAGE;
  uint8_t *p = end == GUARD_AFTER ? last - len : first;
  if (buffer_count == MAX_BUFFERS || next_page + pages >= MAPPED_PAGES) {
    fail("guard_alloc: out of memory");
    finish(0);
  }
  map(PTR(first), PTR(last), PAGE_DATA);
  uint8_t *slack = p - first > SLACK_BYTES ? p - SLACK_BYTES : first;
  uint8_t *slack_last = last - (p + len) > SLACK_BYTES ? p + len + SLACK_BYTES : last;
  memset(slack, SLACK, (size_t)(slack_last - slack));
  memset(p, 0, len);
  buffers[buffer_count++] = (struct buffer){first, last, p, slack, slack_last, len};
  next_page += pages + 1;
  return p;
}

static void remap_all(uint64_t flags) {
  for (size_t i = 0; i < buffer_count; i++) {
    for (uint8_t *a = buffers[i].first; a < buffers[i].last; a += PAGE) {
      pt[PTR(a) / PAGE] = flags == 0 ? 0 : PTR(a) | flags;
      flush_page(a);
    }
  }
}

void guard_read_only(void) {
  remap_all(PAGE_PRESENT | PAGE_NO_EXECUTE);
}

static int slack_intact(const uint8_t *p, const uint8_t *end) {
  const uint64_t expected = SLACK * 0x0101010101010101u;
  uint64_t difference = 0;
  for (; end - p >= 8; p += 8) difference |= load_word(p) ^ expected;
  for (; p < end; p++) difference |= *p ^ (unsigned)SLACK;
  return difference == 0;
}

void guard_reset(void) {
  for (size_t i = 0; i < buffer_count; i++) {
    const struct buffer *b = &buffers[i];
    if (!slack_intact(b->slack, b->p) || !slack_intact(b->p + b->len, b->slack_last)) {
      fail("a write beside a buffer of %u bytes", (uint64_t)b->len);
    }
  }
  remap_all(0);
  buffer_count = 0;
  next_page = ARENA_FIRST_PAGE + 1;
}

/* ---- Exceptions ------------------------------------------------------------------------------ */

struct frame {
  uint64_t rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15;
  uint64_t vector, error, rip, cs, flags, rsp, ss;
};

/* A 64-bit interrupt gate and TSS (Intel SDM volume 3, 7.14.1 and 8.7). */
struct gate {
  uint16_t offset_low, selector;
  uint8_t ist, type;
  uint16_t offset_middle;
  uint32_t offset_high, zero;
};
struct __attribute__((packed)) tss {
  uint32_t zero0;
  uint64_t rsp[3], zero1, ist[7], zero2;
  uint16_t zero3, io_map;
};
struct __attribute__((packed)) table_pointer {
  uint16_t limit;
  const void *base;
};

enum { SELECTOR_CODE = 0x18, SELECTOR_TSS = 0x20, GATE_INTERRUPT = 0x8e, VECTORS = 32 };

/* The selectors of reset.S, then the TSS in two entries. */
static uint64_t gdt[6] = {0, 0, 0x00cf93000000ffff, 0x00af9b000000ffff};
static struct gate idt[VECTORS];
static struct tss tss;

extern void (*const exception_entries[VECTORS])(void);
extern uint8_t exception_stack_end[];
void exception(struct frame *frame);

static void install_exceptions(void) {
  const uint64_t base = PTR(&tss);
  tss.ist[0] = PTR(exception_stack_end);
  tss.io_map = sizeof tss;
  gdt[4] =
      (sizeof tss - 1) | (base & 0xffffff) << 16 | (uint64_t)0x89 << 40 | (base >> 24 & 0xff) << 56;
  gdt[5] = base >> 32;
  for (size_t i = 0; i < VECTORS; i++) {
    const uint64_t entry = PTR(exception_entries[i]);
    idt[i] = (struct gate){(uint16_t)entry,         SELECTOR_CODE,           1, GATE_INTERRUPT,
                           (uint16_t)(entry >> 16), (uint32_t)(entry >> 32), 0};
  }
  const struct table_pointer gdtr = {sizeof gdt - 1, gdt}, idtr = {sizeof idt - 1, idt};
  __asm__ volatile("lgdt %0" : : "m"(gdtr));
  __asm__ volatile("lidt %0" : : "m"(idtr));
  __asm__ volatile("ltr %w0" : : "r"(SELECTOR_TSS));
}

static int branch_tracking_on;
int branch_tracking(void) {
  return branch_tracking_on;
}

/*
 * Indirect branch tracking, where the CPU has it: an indirect call to code that does not begin with
 * endbr64 raises #CP (vector 21). call_kernel calls indirectly, so this covers every kernel. Jumps
 * with a notrack prefix stay allowed: compilers use them for switch tables.
 */
static void enable_branch_tracking(void) {
  enum {
    CPUID7_EDX_IBT = 1 << 20,
    CR4_CET = 1 << 23,
    MSR_S_CET = 0x6a2,
    ENDBR_EN = 4,
    NO_TRACK_EN = 16
  };
  uint32_t a, b, c, d;
  uint64_t cr4;
  __cpuid_count(7, 0, a, b, c, d);
  if ((d & CPUID7_EDX_IBT) == 0) return;
  __asm__ volatile("movq %%cr4, %0" : "=r"(cr4));
  __asm__ volatile("movq %0, %%cr4" : : "r"(cr4 | CR4_CET));
  __asm__ volatile("wrmsr" : : "a"(ENDBR_EN | NO_TRACK_EN), "d"(0), "c"(MSR_S_CET));
  branch_tracking_on = 1;
}

/* ---- Checked calls --------------------------------------------------------------------------- */

/* 2048 bytes below the return address, which the call instruction itself pushes. */
#define STACK_KERNEL_RSP (STACK_KERNEL_START + 2048 + 16)

struct call_state call_state;
struct fault last_fault;
static volatile int in_call;

void exception(struct frame *frame) {
  uint64_t address;
  __asm__ volatile("movq %%cr2, %0" : "=r"(address));
  if (!in_call) {
    fail("exception outside a call: vector=%u error=%x rip=%x address=%x", frame->vector,
         frame->error, frame->rip, address);
    finish(0);
  }
  in_call = 0;
  last_fault = (struct fault){(int)frame->vector, frame->error, frame->rip, address};
  frame->rip = PTR(call_faulted);
}

static void prepare_registers(struct call_registers *r) {
  random_fill(r, sizeof *r);
  r->mxcsr = 0x1f80;
}

static void check_registers(const char *symbol, uint64_t rsp) {
  static const struct {
    enum gpr reg;
    const char *name;
  } saved[] = {{RBX, "rbx"}, {RBP, "rbp"}, {R12, "r12"}, {R13, "r13"}, {R14, "r14"}, {R15, "r15"}};
  const struct call_registers *before = &call_state.before, *after = &call_state.after;
  for (size_t i = 0; i < sizeof saved / sizeof saved[0]; i++) {
    if (before->gpr[saved[i].reg] != after->gpr[saved[i].reg]) {
      fail("%s: callee-saved %s changed", symbol, saved[i].name);
    }
  }
  if (after->gpr[RSP] != rsp) fail("%s: rsp changed", symbol);
  if ((after->flags & 0x400) != 0) fail("%s: DF set", symbol);
  if (before->mxcsr != after->mxcsr) fail("%s: MXCSR changed", symbol);
  for (size_t i = 0; i < 16; i++) {
    uint64_t data = 0, change = 0;
    for (size_t j = 2; j < 8; j++) {
      data |= after->zmm[i][j];
      change |= after->zmm[i][j] ^ before->zmm[i][j];
    }
    if (data != 0 && change != 0) {
      fail("%s: data above bit 127 of zmm%u: vzeroupper missing?", symbol, (uint64_t)i);
    }
  }
}

uint64_t call_checked(const char *symbol, void (*fn)(void), enum stack_size stack,
                      const uint64_t *args, size_t arg_count) {
  const uint64_t rsp = stack == STACK_KERNEL ? STACK_KERNEL_RSP : STACK_LARGE_END;
  call_state.fn = fn;
  call_state.stack = rsp;
  for (size_t i = 0; i < 6; i++) call_state.args[i] = i < arg_count ? args[i] : 0;
  last_fault.vector = -1;
  in_call = 1;
  call_kernel();
  in_call = 0;
  if (last_fault.vector < 0) {
    check_registers(symbol, rsp);
  } else {
    fail("%s: exception vector=%u error=%x rip=%x address=%x args %x %x %x %x %x %x", symbol,
         (uint64_t)last_fault.vector, last_fault.error, last_fault.rip, last_fault.address,
         call_state.args[0], call_state.args[1], call_state.args[2], call_state.args[3],
         call_state.args[4], call_state.args[5]);
  }
  return call_state.after.gpr[RAX];
}

/* ---- Secrets left behind --------------------------------------------------------------------- */

static struct {
  struct call_registers registers;
  uint8_t stack[STACK_KERNEL_RSP - STACK_KERNEL_START];
} remembered;

/* The stack keeps what the first call left, so the second starts from the same bytes. */
void residue_remember(void) {
  remembered.registers = call_state.after;
  memcpy(remembered.stack, (const void *)(uintptr_t)STACK_KERNEL_START, sizeof remembered.stack);
}

void residue_check(const char *symbol, int returns_value) {
  static const char *const names[GPR_COUNT] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                               "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                               "r12", "r13", "r14", "r15"};
  const struct call_registers *a = &remembered.registers, *b = &call_state.after;
  for (size_t i = 0; i < GPR_COUNT; i++) {
    if (i == RAX && returns_value) continue;
    if (a->gpr[i] != b->gpr[i]) fail("%s: a secret is left in %s", symbol, names[i]);
  }
  for (size_t i = 0; i < 8; i++) {
    if (a->mask[i] != b->mask[i]) fail("%s: a secret is left in k%u", symbol, (uint64_t)i);
  }
  for (size_t i = 0; i < 32; i++) {
    if (memcmp(a->zmm[i], b->zmm[i], 64) != 0) {
      fail("%s: a secret is left in zmm%u", symbol, (uint64_t)i);
    }
  }
  if (memcmp(remembered.stack, (const void *)(uintptr_t)STACK_KERNEL_START,
             sizeof remembered.stack) != 0) {
    fail("%s: a secret is left on the stack", symbol);
  }
}

/* ---- Entry ----------------------------------------------------------------------------------- */

void image_main(void) {
  install_exceptions();
  map_memory();
  enable_branch_tracking();
  random_seed(1);
  prepare_registers(&call_state.before);
  finish(main() == 0 && failure_count == 0);
}
