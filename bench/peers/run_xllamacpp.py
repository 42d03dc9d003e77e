"""llama.cpp's own HTTP server (C++): MODEL.gguf THREADS SLOTS CONTEXT_TOKENS PORT. Prints its URL; SIGTERM ends it.

The context is that of one slot.
"""

import signal
import sys
import threading

import xllamacpp

model = sys.argv[1]
threads, slots, context, port = map(int, sys.argv[2:])
params = xllamacpp.CommonParams()
params.model.path = model
params.hostnames, params.port = ["127.0.0.1"], port
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
params.n_ctx, params.n_parallel = context * slots, slots
server = xllamacpp.Server(params)
print(f"base URL  {server.listening_address}/v1", flush=True)
ended = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: ended.set())
ended.wait()
