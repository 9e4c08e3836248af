/* SPDX-License-Identifier: Apache-2.0 */
#include "aes/records.h"

#include <string.h>

#include "cpu/dispatch.h"

static struct fc_gcm_message message_of(const struct fc_gcm_record *record, uint64_t len,
                                        uint8_t *tag) {
  const struct fc_gcm_message message = {
      .j0 = record->j0,
      .aad = record->aad,
      .aad_len = record->aad_len,
      .in = record->in,
      .out = record->out,
      .len = len,
      .tag = tag,
  };
  return message;
}

void fc_gcm_seal_records(const struct fc_gcm_key *key, const struct fc_gcm_record *records,
                         size_t n, size_t tag_len) {
  for (size_t i = 0; i < n; i++) {
    const struct fc_gcm_record *record = &records[i];
    uint8_t short_tag[FC_GCM_TAG_BYTES];
    uint8_t *tag = record->out + record->in_len;
    const int whole = tag_len == FC_GCM_TAG_BYTES;
    const struct fc_gcm_message message =
        message_of(record, record->in_len, whole ? tag : short_tag);
    FC_TABLE.aes.gcm_seal(key, &message);
    if (!whole) memcpy(tag, short_tag, tag_len);
  }
}

size_t fc_gcm_open_records(const struct fc_gcm_key *key, const struct fc_gcm_record *records,
                           size_t n, size_t tag_len) {
  for (size_t i = 0; i < n; i++) {
    const struct fc_gcm_record *record = &records[i];
    uint8_t computed[FC_GCM_TAG_BYTES];
    if (record->in_len < tag_len) return i;
    const uint64_t len = record->in_len - tag_len;
    const struct fc_gcm_message message = message_of(record, len, computed);
    if (fc_gcm_open(key, &message, record->in + len, tag_len) != 0) return i;
  }
  return n;
}
