/**
 * What another process holds and has used, by its id: /proc on Linux, `ps` elsewhere.
 *
 * @module
 */

/** Ticks of /proc/PID/stat in a second: the kernel's USER_HZ, 100 on every Linux that we run on. */
const TICKS_PER_SECOND = 100;

/** Resident memory. @throws If there is no such process. */
export async function readRssBytes(pid: number): Promise<number> {
  if (Deno.build.os !== "linux") return Number(await ps(pid, "rss")) * 1024;
  return await readStatus(pid, "VmRSS");
}

/** Largest resident memory so far; undefined where the system does not say. @throws If there is no such process. */
export async function readPeakBytes(pid: number): Promise<number | undefined> {
  return Deno.build.os === "linux" ? await readStatus(pid, "VmHWM") : undefined;
}

/** Processor time of all its threads, in seconds. @throws If there is no such process. */
export async function readCpuSeconds(pid: number): Promise<number> {
  if (Deno.build.os !== "linux") {
    const parts = (await ps(pid, "time")).split(":").map(Number);
    return parts.reduce((sum, part) => sum * 60 + part, 0);
  }
  return await readStat(`/proc/${pid}/stat`);
}

/** Processor time of one thread, in seconds; NaN where the system does not say. @throws If there is no such thread. */
export async function readThreadCpuSeconds(pid: number, thread: number): Promise<number> {
  return Deno.build.os === "linux" ? await readStat(`/proc/${pid}/task/${thread}/stat`) : NaN;
}

/** How long a thread has waited for a processor, in seconds; NaN where the system does not say. */
export async function readThreadWaitSeconds(pid: number, thread: number): Promise<number> {
  if (Deno.build.os !== "linux") return NaN;
  const [, waitNs] = (await Deno.readTextFile(`/proc/${pid}/task/${thread}/schedstat`)).split(" ");
  return Number(waitNs) / 1e9;
}

async function readStat(path: string): Promise<number> {
  const stat = await Deno.readTextFile(path);
  // The second field is the program's name in parentheses and may hold blanks; utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

async function readStatus(pid: number, field: string): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status);
  if (!found) throw new Error(`/proc/${pid}/status has no ${field}`);
  return Number(found[1]) * 1024;
}

async function ps(pid: number, field: string): Promise<string> {
  const { stdout } = await new Deno.Command("ps", { args: ["-o", `${field}=`, "-p", String(pid)] }).output();
  return new TextDecoder().decode(stdout).trim();
}
