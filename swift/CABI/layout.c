/* layout.c: the layout of rmx.h, asserted by the compiler that builds the core.
 *
 * src/ffi/abi_gen.ts computes the same numbers for TypeScript from the header's text, and tests/abi compares those with
 * rmx_abi_manifest of a built library; so the two sides, the header and the library can't drift apart. Offsets are
 * written out here on purpose: a field that moves must fail, not move along. C11.
 */
#include "rmx.h"

#include <stddef.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has changed its size")
#define FIELD(type, field, offset) \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field " has moved")

SIZE(rmx_error, 256);
FIELD(rmx_error, code, 0);
FIELD(rmx_error, message_len, 4);
FIELD(rmx_error, message, 8);

SIZE(rmx_event, 32);
FIELD(rmx_event, tag, 0);
FIELD(rmx_event, kind, 4);
FIELD(rmx_event, flags, 6);
FIELD(rmx_event, token, 8);
FIELD(rmx_event, status, 12);
FIELD(rmx_event, bytes_offset, 16);
FIELD(rmx_event, bytes_len, 20);
FIELD(rmx_event, value, 24);
FIELD(rmx_event, logprob, 28);

SIZE(rmx_alternative, 8);
FIELD(rmx_alternative, token, 0);
FIELD(rmx_alternative, logprob, 4);

SIZE(rmx_usage, 64);
FIELD(rmx_usage, prompt_tokens, 0);
FIELD(rmx_usage, cached_tokens, 4);
FIELD(rmx_usage, completion_tokens, 8);
FIELD(rmx_usage, drafted_tokens, 12);
FIELD(rmx_usage, accepted_tokens, 16);
FIELD(rmx_usage, reserved, 20);
FIELD(rmx_usage, seed, 24);
FIELD(rmx_usage, queue_us, 32);
FIELD(rmx_usage, prefill_us, 40);
FIELD(rmx_usage, decode_us, 48);
FIELD(rmx_usage, reserved2, 56);

SIZE(rmx_batch, 16);
FIELD(rmx_batch, event_count, 0);
FIELD(rmx_batch, bytes_len, 4);
FIELD(rmx_batch, pending, 8);
FIELD(rmx_batch, reserved, 12);

SIZE(rmx_params, 80);
FIELD(rmx_params, size, 0);
FIELD(rmx_params, tag, 4);
FIELD(rmx_params, seed, 8);
FIELD(rmx_params, max_tokens, 16);
FIELD(rmx_params, flags, 20);
FIELD(rmx_params, temperature, 24);
FIELD(rmx_params, top_p, 28);
FIELD(rmx_params, min_p, 32);
FIELD(rmx_params, top_k, 36);
FIELD(rmx_params, repetition_penalty, 40);
FIELD(rmx_params, presence_penalty, 44);
FIELD(rmx_params, frequency_penalty, 48);
FIELD(rmx_params, penalty_window_tokens, 52);
FIELD(rmx_params, logprobs_top, 56);
FIELD(rmx_params, client, 60);
FIELD(rmx_params, priority, 64);
FIELD(rmx_params, deadline_ms, 68);
FIELD(rmx_params, reserved, 72);
FIELD(rmx_params, reserved2, 76);

/* Events lie one after the other in the caller's buffer. */
_Static_assert(_Alignof(rmx_event) == 4, "rmx_event is read from buffers aligned to 4 bytes");
_Static_assert(_Alignof(rmx_usage) == 8, "rmx_usage is read at multiples of 8 bytes");
