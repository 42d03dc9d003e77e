/**
 * How long a thread runs on once it has a processor, where Linux asks (6.12 and later): one that wakes takes it from
 * one with a longer slice at once, and else waits for the next tick of the kernel's clock, 4 ms. Shares stay as they
 * are, so nobody starves.
 *
 * Threads that are started later have the slice of the one that starts them.
 *
 * @module
 */

/** Linux's numbers of the calls, which glibc 2.40 and older have no names for. */
const CALLS: Readonly<Record<string, { set: bigint; get: bigint }>> = {
  ["x86_64"]: { set: 314n, get: 315n },
  aarch64: { set: 274n, get: 275n },
};

/** `struct sched_attr` up to its first version: size and policy are u32, the slice is a u64 of nanoseconds. */
const ATTRIBUTES = { bytes: 48, size: 0, policy: 4, slice: 24 };

/** Policies that know slices: SCHED_OTHER and SCHED_BATCH. */
const SLICED = [0, 3];

/**
 * Sets the slice of the thread that calls.
 *
 * @param us Microseconds; the kernel takes 100 to 100,000.
 * @returns Whether the kernel took it; kernels before 6.12 do, and go on as before.
 */
export function setThreadSlice(us: number): boolean {
  const numbers = Deno.build.os === "linux" ? CALLS[Deno.build.arch] : undefined;
  if (numbers === undefined) return false;
  try {
    const libc = Deno.dlopen("libc.so.6", {
      syscall: { parameters: ["i64", "i64", "buffer", "i64", "i64"], result: "i64" },
    });
    using _closed = { [Symbol.dispose]: () => libc.close() };
    const bytes = new Uint8Array(ATTRIBUTES.bytes);
    const view = new DataView(bytes.buffer);
    const { syscall } = libc.symbols;
    if (syscall(numbers.get, 0n, bytes, BigInt(bytes.length), 0n) !== 0n) return false;
    if (!SLICED.includes(view.getUint32(ATTRIBUTES.policy, true))) return false;
    view.setUint32(ATTRIBUTES.size, bytes.length, true);
    view.setBigUint64(ATTRIBUTES.slice, BigInt(us) * 1000n, true);
    return syscall(numbers.set, 0n, bytes, 0n, 0n) === 0n;
  } catch {
    // A sandbox may forbid it, and nothing depends on it.
    return false;
  }
}
