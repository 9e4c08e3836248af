/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wiped  after a call nothing that depends on a secret is left in any vector register, mask
 * register, caller-saved general register or the stack below the caller.
 *
 * The call is made with several secrets and the same public arguments, at the same addresses, on
 * the same painted stack. What a register or a byte of stack holds afterwards must be the same each
 * time: a key, a round key, H or a power of it, hash state, plaintext or anything computed from
 * them would differ. No search for known values can miss less. It is searched for them all the
 * same, to say what was found. Exempt: the return value, and the memory that a kernel writes its
 * outputs to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "trampoline.h"

#define SECRETS 8
#define PAINT 0xd1
#define SCAN 16384 /* bytes of stack below the caller that are looked at */

/* Everything that a call leaves behind. */
struct remains {
  uint64_t gpr[16];
  uint8_t vectors[32][64];
  uint64_t masks[8];
  uint8_t stack[SCAN];
};

static void keep(struct remains *remains) {
  const struct trampoline_state *s = &trampoline_state;
  memcpy(remains->gpr, s->gpr, sizeof remains->gpr);
  memcpy(remains->vectors, s->vectors, sizeof remains->vectors);
  memcpy(remains->masks, s->masks, sizeof remains->masks);
  memcpy(remains->stack, trampoline_stack + TRAMPOLINE_STACK - SCAN, SCAN);
}

/* ---- Secrets that vary, public values that do not -------------------------------------------- */

struct split_source {
  const struct harness_op *op;
  uint64_t secret, public;
};

static void split(void *context, const char *name, uint8_t *p, size_t len) {
  struct split_source *source = context;
  const int k = harness_operand_index(source->op, name);
  const int public = k >= 0 && source->op->operands[k].secrecy != HARNESS_SECRET;
  harness_random(public ? &source->public : &source->secret, name, p, len);
}

static void fill(struct harness_call *call, uint64_t secret, struct reference_raw *raw) {
  struct split_source source = {call->target->op, secret * 1000003, 77};
  harness_place_plainly(call);
  *raw = (struct reference_raw){.source = split, .context = &source};
  harness_fill(call, reference_source, raw);
  /*
   * All orders alike: the result is exempt, what it was computed from is not. Which bytes agree is
   * secret: about half of them, others for each secret, or a mask of them would be zero each time.
   */
  if (call->target->op->result == HARNESS_SECRET && call->sizes.n != 0) {
    for (size_t i = 1; i < call->sizes.n; i++) {
      if (call->at[1][i] & 1) call->at[1][i] = call->at[0][i];
    }
    call->at[0][0] &= 0x7f;
    call->at[1][0] |= 0x80;
  }
}

/* ---- What was found -------------------------------------------------------------------------- */

static int find(const uint8_t *found, size_t len, const uint8_t *in, size_t in_len,
                size_t *offset) {
  for (size_t i = 0; i + len <= in_len; i++) {
    if (memcmp(in + i, found, len) == 0) {
      *offset = i;
      return 1;
    }
  }
  return 0;
}

/* Name the secret that holds these eight bytes, if it is one of those that are known. */
static void name_secret(const struct harness_call *call, const struct reference_raw *raw,
                        const uint8_t found[8], char *text, size_t size) {
  uint8_t encryption[240], decryption[240], h[16] = {0};
  size_t offset;
  reference_round_keys(raw->key, call->sizes.key_len, encryption, decryption);
  reference_encrypt_block(raw->key, call->sizes.key_len, h, h);
  if (find(found, 8, encryption, 240, &offset)) {
    snprintf(text, size, "encryption round key %zu", offset / 16);
  } else if (find(found, 8, decryption, 240, &offset)) {
    snprintf(text, size, "decryption round key %zu", offset / 16);
  } else if (find(found, 8, h, 16, &offset) || find(found, 8, raw->h, 16, &offset)) {
    snprintf(text, size, "H");
  } else {
    snprintf(text, size, "something computed from a secret");
    for (size_t k = 0; k < call->target->op->operand_count; k++) {
      struct harness_range ranges[2];
      const size_t count = harness_secret_ranges(call, k, ranges);
      for (size_t r = 0; r < count; r++) {
        if (find(found, 8, call->at[k] + ranges[r].offset, ranges[r].len, &offset)) {
          snprintf(text, size, "byte %zu of %s", offset + ranges[r].offset,
                   call->target->op->operands[k].name);
        }
      }
    }
  }
}

static void name_place(size_t offset, char *text, size_t size) {
  const size_t vectors = offsetof(struct remains, vectors), masks = offsetof(struct remains, masks);
  const size_t stack = offsetof(struct remains, stack);
  if (offset < vectors) {
    snprintf(text, size, "%s", trampoline_gpr_names[offset / 8]);
  } else if (offset < masks) {
    snprintf(text, size, "vector register %zu, byte %zu", (offset - vectors) / 64,
             (offset - vectors) % 64);
  } else if (offset < stack) {
    snprintf(text, size, "k%zu", (offset - masks) / 8);
  } else {
    snprintf(text, size, "stack, %zu bytes below the caller", SCAN - (offset - stack));
  }
}

static int exempt(const struct harness_op *op, size_t offset) {
  return op->result == HARNESS_SECRET && offset / 8 == RAX;
}

/* Compare with the first secret's remains; on a difference say where and what. */
static int compare(const struct harness_call *call, const struct reference_raw *raw,
                   const struct remains *first, const struct remains *now, char *failure,
                   size_t size) {
  const uint8_t *a = (const uint8_t *)first, *b = (const uint8_t *)now;
  if (memcmp(a, b, sizeof *first) == 0) return 0;
  for (size_t i = 0; i < sizeof *first; i++) {
    if (a[i] == b[i] || exempt(call->target->op, i)) continue;
    char place[80], secret[80];
    name_place(i, place, sizeof place);
    name_secret(call, raw, b + i / 8 * 8, secret, sizeof secret);
    snprintf(failure, size, "%s holds %s, n %zu, aad %zu, key %zu", place, secret, call->sizes.n,
             call->sizes.aad_len, call->sizes.key_len);
    return 1;
  }
  return 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

static int try_sizes(struct harness_call *call, char *failure, size_t size) {
  static struct remains first, now;
  struct reference_raw raw;
  for (uint64_t secret = 1; secret <= SECRETS; secret++) {
    fill(call, secret, &raw);
    trampoline_run(call, PAINT);
    keep(secret == 1 ? &first : &now);
    if (secret == 1) continue;
    /* What the secrets were before an in-place or INOUT operand changed. */
    fill(call, secret, &raw);
    if (compare(call, &raw, &first, &now, failure, size)) return 1;
  }
  return 0;
}

static void check_target(const struct harness_target *target) {
  const char *reason = harness_not_runnable(target);
  char failure[300];
  size_t calls = 0;
  if (reason != NULL) {
    harness_report(HARNESS_UNDECIDABLE, target->id, "wiped", "%s", reason);
    return;
  }
  for (size_t key_len = 16; key_len <= 32; key_len += 8) {
    if (key_len != 16 && !harness_has_key_len(target->op)) continue;
    for (size_t i = 0; i < trampoline_length_count; i += harness_options.quick ? 2 : 1) {
      struct harness_call call = {.target = target};
      call.sizes = (struct harness_sizes){trampoline_length(target->op, i),
                                          harness_has_aad(target->op) ? i * 5 % 70 : 0, key_len};
      if (try_sizes(&call, failure, sizeof failure)) {
        harness_report(HARNESS_FAIL, target->id, "wiped", "%s", failure);
        return;
      }
      calls += SECRETS;
      if (!harness_has_n(target->op)) break;
    }
  }
  harness_report(HARNESS_PASS, target->id, "wiped", "%zu calls", calls);
}

int main(int argc, char **argv) {
  harness_parse(argc, argv);
  trampoline_init();
  size_t count;
  struct harness_target *targets = harness_all_targets(&count);
  for (size_t i = 0; i < count; i++) {
    if (harness_selected(&targets[i])) check_target(&targets[i]);
  }
  free(targets);
  return harness_failed();
}
