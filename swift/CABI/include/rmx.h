/* rmx.h: the one contract between the server (TypeScript) and the core (Swift).
 *
 * Everything the two sides know about each other is in this file. src/ffi/abi.gen.ts is generated from it
 * (`deno task abi:gen`); swift/Bridge implements it; swift/CABI/layout.c asserts the sizes.
 *
 * Rules that hold for every function:
 *   Ownership  The callee copies what it is given before it returns. The core never hands out memory:
 *              results are written to buffers that the caller owns.
 *   Sizes      A call with a too small `cap` writes nothing, stores the needed length in `*len_out` and
 *              returns RMX_ERR_SPACE. `cap` 0 asks for the length.
 *   Errors     0 is success, negative is an error, and counts never travel in the result. `err` may be
 *              NULL. There is no last-error call: Deno runs a nonblocking call on whatever pool thread is
 *              free, so a thread-local would be read on another thread.
 *   Threads    Every function may be called from any thread. RMX_FAST returns in under 50 us and takes no
 *              lock that the engine thread holds during a step; RMX_BLOCKING may wait.
 *   Handles    32-bit numbers: slot and generation. A stale handle gives RMX_ERR_HANDLE.
 *   Text       UTF-8, length given, no terminator. Structs: little-endian, no pointers inside, `size` first
 *              in those the caller fills, fields only ever appended, `reserved` zero.
 *   Tokens     The core sees token ids, never text (docs/design/0003).
 */
#ifndef RMX_H
#define RMX_H
#include <stdint.h>

#define RMX_API __attribute__((visibility("default")))
#define RMX_FAST     /* bound as a synchronous call */
#define RMX_BLOCKING /* bound with nonblocking: true */

enum rmx_abi {
  RMX_ABI_MAJOR = 1, /* raised when an existing caller would break */
  RMX_ABI_MINOR = 1  /* raised when something is added */
};

typedef int32_t  rmx_status;
typedef uint32_t rmx_engine; /* 0 is never a valid handle */
typedef uint32_t rmx_model;

enum rmx_status_code {
  RMX_OK           = 0,
  RMX_ERR_ARGUMENT = -1, /* the caller broke a rule of this file; a bug */
  RMX_ERR_HANDLE   = -2, /* stale or unknown handle; a bug */
  RMX_ERR_SPACE    = -3, /* buffer too small; *len_out has the needed length */
  RMX_ERR_CLOSED   = -4, /* the engine is closing */
  RMX_ERR_BUSY     = -5, /* a limit of the engine's config is reached; retry later */
  RMX_ERR_MEMORY   = -6, /* the request's worst case does not fit the memory budget */
  RMX_ERR_IO       = -7, /* file missing or unreadable */
  RMX_ERR_FORMAT   = -8, /* weights or JSON malformed; the message names file, tensor and reason */
  RMX_ERR_MODEL    = -9, /* model_type unknown, or shapes do not match */
  RMX_ERR_INTERNAL = -10 /* MLX or the device failed; the message says where */
};

enum rmx_event_kind {
  RMX_EVENT_MODEL_PROGRESS = 1, /* model: handle, value: per mille loaded */
  RMX_EVENT_MODEL_READY    = 2, /* model: handle */
  RMX_EVENT_MODEL_FAILED   = 3, /* model: handle, status, bytes: message */
  RMX_EVENT_MODEL_UNLOADED = 4, /* model: handle */
  RMX_EVENT_PREFILL        = 5, /* value: prompt tokens done, cached ones included */
  RMX_EVENT_TOKEN          = 6, /* token, logprob, value: index from 0, bytes: rmx_alternative[n] */
  RMX_EVENT_FINISH         = 7, /* status: rmx_finish or an error; bytes: rmx_usage, then a message */
  RMX_EVENT_LOG            = 8  /* status: 0 debug, 1 info, 2 warning, 3 error; bytes: one line */
};

/* STOP: the last TOKEN event was one of the request's end tokens. An end token is reported as a TOKEN
 * like any other; who shows text drops it. */
enum rmx_finish { RMX_FINISH_STOP = 1, RMX_FINISH_LENGTH = 2, RMX_FINISH_CANCELLED = 3 };

enum rmx_request_flag {
  RMX_REQUEST_LOGPROBS   = 1, /* TOKEN events carry logprob and `logprobs_top` alternatives */
  RMX_REQUEST_IGNORE_END = 2, /* end tokens do not end the request (benchmarks) */
  RMX_REQUEST_MASKED     = 4  /* no token is drawn before it was told what may be drawn: rmx_request_mask */
};

typedef struct { /* 256 bytes; one per call in flight */
  int32_t  code;
  uint32_t message_len;
  uint8_t  message[248];
} rmx_error;

typedef struct { /* 32 bytes */
  uint32_t tag;          /* the request's tag as given at submit, or the model handle for MODEL_* */
  uint16_t kind;         /* rmx_event_kind */
  uint16_t flags;
  int32_t  token;        /* token id, or -1 */
  int32_t  status;
  uint32_t bytes_offset; /* into the bytes buffer of the same wait call; a multiple of 8 */
  uint32_t bytes_len;
  uint32_t value;
  float    logprob;      /* natural log of the token's probability; 0 when not asked for */
} rmx_event;

typedef struct { /* 8 bytes */
  int32_t token;
  float   logprob; /* natural log */
} rmx_alternative;

typedef struct { /* 64 bytes; what a request cost */
  uint32_t prompt_tokens;
  uint32_t cached_tokens;     /* of the prompt, taken from the prefix cache */
  uint32_t completion_tokens; /* end token included */
  uint32_t drafted_tokens;
  uint32_t accepted_tokens;
  uint32_t reserved;
  uint64_t seed;          /* the seed that was used, drawn by the caller or given */
  uint64_t queue_us;      /* submit to first step */
  uint64_t prefill_us;    /* first step to the first token */
  uint64_t decode_us;     /* first token to the last */
  uint64_t reserved2;
} rmx_usage;

typedef struct { /* 16 bytes */
  uint32_t event_count;
  uint32_t bytes_len;
  uint32_t pending; /* events left in the queue */
  uint32_t reserved;
} rmx_batch;

typedef struct { /* 80 bytes */
  uint32_t size;                  /* sizeof(rmx_params) as the caller knows it */
  uint32_t tag;                   /* caller's tag, nonzero, unique among live requests */
  uint64_t seed;                  /* all 63 low bits count; sampling is a function of (seed, position, logits) */
  uint32_t max_tokens;            /* > 0 */
  uint32_t flags;                 /* rmx_request_flag */
  float    temperature;           /* 0: greedy */
  float    top_p;                 /* (0, 1]; 1: off */
  float    min_p;                 /* [0, 1]; 0: off */
  uint32_t top_k;                 /* 0: off */
  float    repetition_penalty;    /* > 0; 1: off */
  float    presence_penalty;      /* [-2, 2]; 0: off */
  float    frequency_penalty;     /* [-2, 2]; 0: off */
  uint32_t penalty_window_tokens; /* repetition penalty looks back this far; 0: whole context */
  uint32_t logprobs_top;          /* 0 to RMX_LOGPROBS_TOP_MAX alternatives a token */
  uint32_t client;                /* fairness key: requests of one client share their turn */
  int32_t  priority;              /* higher runs first; 0 is normal */
  uint32_t deadline_ms;           /* from submit; 0: none */
  uint32_t reserved;
  uint32_t reserved2;
} rmx_params;

enum rmx_limit {
  RMX_LOGPROBS_TOP_MAX = 20,
  RMX_MASK_AHEAD_MAX   = 64 /* positions after the last token drawn for which masks and tokens are kept */
};

/* -- Library ------------------------------------------------------------------------------------------- */

RMX_API RMX_FAST uint32_t rmx_abi_version(void); /* major << 16 | minor */

/* JSON: {"abi":[major,minor],"structs":{"rmx_event":{"size":32,"fields":{"tag":0,…}},…},"core":"0.1.0",
 * "mlx":"0.31.1","platform":"…"} */
RMX_API RMX_FAST rmx_status rmx_abi_manifest(
    uint8_t *json, uint32_t cap, uint32_t *len_out, rmx_error *err);

/* JSON: {"device":"cpu|gpu","name":"…","memory_bytes":n,"working_set_bytes":n,"threads":n,
 * "cpu_variant":"avx512|avx2|neon|plain"} */
RMX_API RMX_FAST rmx_status rmx_device_info(
    uint8_t *json, uint32_t cap, uint32_t *len_out, rmx_error *err);

/* Runs every kernel against its reference. options JSON: {"filter":"…","deep":false}. Result JSON:
 * {"ok":bool,"kernels":[{"name","ok","cases","max_error","message"}]}. Returns RMX_OK even if a kernel failed. */
RMX_API RMX_BLOCKING rmx_status rmx_selftest(
    const uint8_t *options_json, uint32_t options_len, uint8_t *json, uint32_t cap, uint32_t *len_out,
    rmx_error *err);

/* -- Engine: one thread that owns MLX, one queue of events ---------------------------------------------- */

/* config JSON, all optional: {"max_requests":n,"max_queue":n,"max_step_tokens":n,"prefill_chunk_tokens":n,
 * "memory_bytes":n,"threads":n,"cpu_arithmetic":"exact|fast"}. An unknown key is RMX_ERR_ARGUMENT. On a CPU the
 * arithmetic is fast unless it is said. */
RMX_API RMX_FAST rmx_status rmx_engine_open(
    const uint8_t *config_json, uint32_t config_len, rmx_engine *engine_out, rmx_error *err);

/* The pump. Waits for at least one event, a wake or the timeout, then drains what fits. At most one wait is in
 * flight per engine. Events of one tag arrive in order. */
RMX_API RMX_BLOCKING rmx_status rmx_engine_wait(
    rmx_engine engine, rmx_event *events, uint32_t events_cap, uint8_t *bytes, uint32_t bytes_cap,
    uint32_t timeout_ms, rmx_batch *batch_out, rmx_error *err);
RMX_API RMX_FAST rmx_status rmx_engine_wake(rmx_engine engine, rmx_error *err);

/* JSON: see src/ffi/core.ts, EngineStats. */
RMX_API RMX_FAST rmx_status rmx_engine_stats(
    rmx_engine engine, uint8_t *json, uint32_t cap, uint32_t *len_out, rmx_error *err);

/* Finishes all requests with CANCELLED, joins the thread, frees the handle. Events not yet read are lost. */
RMX_API RMX_BLOCKING rmx_status rmx_engine_close(rmx_engine engine, rmx_error *err);

/* -- Model: load and unload return at once; their ends are events --------------------------------------- */

/* Bytes that the loaded weights and the KV cache of one full context take. */
RMX_API RMX_BLOCKING rmx_status rmx_model_estimate(
    const uint8_t *path, uint32_t path_len, const uint8_t *config_json, uint32_t config_len,
    uint64_t *weight_bytes_out, uint64_t *kv_bytes_per_token_out, rmx_error *err);

/* path: a directory with config.json and *.safetensors. config JSON, all optional: {"context_tokens":n,
 * "dtype":"checkpoint|float32"}. */
RMX_API RMX_FAST rmx_status rmx_model_load(
    rmx_engine engine, const uint8_t *path, uint32_t path_len, const uint8_t *config_json,
    uint32_t config_len, rmx_model *model_out, rmx_error *err);
RMX_API RMX_FAST rmx_status rmx_model_unload(rmx_engine engine, rmx_model model, rmx_error *err);

/* JSON once READY: see src/ffi/core.ts, ModelInfo. */
RMX_API RMX_FAST rmx_status rmx_model_info(
    rmx_engine engine, rmx_model model, uint8_t *json, uint32_t cap, uint32_t *len_out, rmx_error *err);

/* -- Requests: an accepted submit is answered by exactly one FINISH, and nothing follows it -------------- */

RMX_API RMX_FAST rmx_status rmx_request_submit(
    rmx_engine engine, rmx_model model, const rmx_params *params, const int32_t *tokens,
    uint32_t token_count, const int32_t *end_tokens, uint32_t end_token_count,
    const rmx_alternative *logit_bias, uint32_t logit_bias_count, rmx_error *err);

/* Idempotent; an unknown tag is no error. The request ends before the next step, prefill included. */
RMX_API RMX_FAST rmx_status rmx_request_cancel(rmx_engine engine, uint32_t tag, rmx_error *err);

/* -- Guided requests (RMX_REQUEST_MASKED): what may be drawn ---------------------------------------------
 *
 * `position` counts drawn tokens: 0 is the first. A position is drawn once it was told; until then the request keeps
 * its logits and the others go on. Positions are told without a gap; telling one again replaces it and forgets all
 * behind it. Positions that are drawn already are ignored, and so is a tag that is not live. RMX_ERR_ARGUMENT: the
 * request is not masked, a gap, or masks and tokens further than RMX_MASK_AHEAD_MAX ahead. */

/* word_count 0: positions position .. position + rows - 1 are free, however many. Else rows * ceil(vocabulary / 32)
 * words, row r for position + r: token t may be drawn if bit t % 32 of word t / 32 is set; bits past the vocabulary
 * are ignored. The mask goes on after bias and penalties, before temperature and filters; logprobs are those of what is
 * left. A row that allows nothing fails its request when its turn comes. */
RMX_API RMX_FAST rmx_status rmx_request_mask(
    rmx_engine engine, uint32_t tag, uint32_t position, uint32_t rows, const uint32_t *words,
    uint32_t word_count, rmx_error *err);

/* The tokens at position .. position + count - 1 are these, TOKEN events like drawn ones; logprobs are the model's own.
 * One that is an end token ends the request. */
RMX_API RMX_FAST rmx_status rmx_request_force(
    rmx_engine engine, uint32_t tag, uint32_t position, const int32_t *tokens, uint32_t count, rmx_error *err);

/* From the next draw on, an end token that is drawn gives way to these tokens, up to RMX_MASK_AHEAD_MAX: they take its
 * position and the following ones, whatever those were told. Forced end tokens still end. count 0: end tokens end. */
RMX_API RMX_FAST rmx_status rmx_request_replace_end(
    rmx_engine engine, uint32_t tag, const int32_t *tokens, uint32_t count, rmx_error *err);

#endif
