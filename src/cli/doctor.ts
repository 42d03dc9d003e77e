/**
 * `rapid-mlx doctor`: looks at everything that serving needs and says what is wrong. Changes nothing.
 *
 * @module
 */
import { PORT_FIRST } from "../config.ts";
import { Library } from "../ffi/library.ts";
import { findDefaultModel } from "../setup/default_model.ts";
import { cacheFolder, hubCacheFolder } from "../setup/folders.ts";
import { listCached } from "../setup/hub/cache.ts";
import { openEndpoint } from "../setup/hub/endpoint.ts";
import { freeBytes, requirePlatform } from "../setup/requirements.ts";
import { findCore } from "../setup/setup.ts";
import { findPython, findSwift } from "../setup/toolchain.ts";
import { print, printTable, toSize } from "./terminal.ts";

/** Flags of `doctor`. */
export interface DoctorFlags {
  /** As JSON. */
  readonly json?: boolean;
  /** More shapes a kernel. */
  readonly deep?: boolean;
}

/** One finding. `warning`: works, but something is missing for later. */
interface Finding {
  check: string;
  state: "ok" | "warning" | "failure";
  detail: string;
}

type Check = (flags: DoctorFlags) => Promise<Finding[]> | Finding[];

const CHECKS: readonly Check[] = [checkMachine, checkTools, checkCore, checkModels, checkPort];

/** Prints the findings; exit code 1 if one is a failure. */
export async function doctor(flags: DoctorFlags): Promise<void> {
  const findings: Finding[] = [];
  for (const check of CHECKS) {
    try {
      findings.push(...await check(flags));
    } catch (error) {
      const name = check.name.replace("check", "").toLowerCase();
      findings.push({ check: name, state: "failure", detail: error instanceof Error ? error.message : String(error) });
    }
  }
  if (flags.json === true) print(JSON.stringify({ findings }, null, 2));
  else printTable(findings.map(({ check, state, detail }) => [state, check, detail]));
  if (findings.some(({ state }) => state === "failure")) Deno.exitCode = 1;
}

async function checkMachine(): Promise<Finding[]> {
  const { total } = Deno.systemMemoryInfo();
  const free = await freeBytes(Deno.cwd());
  return [
    { check: "platform", state: "ok", detail: `${requirePlatform()}, ${navigator.hardwareConcurrency} processors` },
    { check: "memory", state: total < 4e9 ? "warning" : "ok", detail: toSize(total) },
    { check: "disk", state: free < 2e9 ? "warning" : "ok", detail: `${toSize(free)} free` },
  ];
}

async function checkTools(): Promise<Finding[]> {
  const swift = await findSwift();
  const python = await findPython();
  return [
    { check: "swift", state: swift ? "ok" : "warning", detail: swift ?? "none of version 6; needed to build the core" },
    { check: "pip", state: python ? "ok" : "warning", detail: python?.pip.join(" ") ?? "none; needed to fetch MLX" },
  ];
}

async function checkCore({ deep }: DoctorFlags): Promise<Finding[]> {
  const path = await findCore();
  if (path === undefined) {
    return [{
      check: "core",
      state: "failure",
      detail: "not built from these sources yet; `rapid-mlx serve` builds it",
    }];
  }
  const library = Library.open(path);
  const { core, mlx, platform } = library.version;
  const device = library.deviceInfo();
  const report = await library.selftest({ deep: deep === true }).finally(() => library.close());
  const kernels = report.kernels.map(({ name, ok, cases, message }): Finding => ({
    check: `kernel ${name}`,
    state: ok ? "ok" : "failure",
    detail: ok ? `${cases} cases` : message,
  }));
  return [
    { check: "core", state: "ok", detail: `${core}, MLX ${mlx}, ${platform}` },
    { check: "device", state: "ok", detail: `${device.name}, ${device.threads} threads, ${device.cpuVariant}` },
    ...kernels,
  ];
}

async function checkModels(): Promise<Finding[]> {
  const embedded = await findDefaultModel();
  const cached = await listCached(hubCacheFolder());
  const broken = cached.filter(({ missing }) => missing !== undefined).map(({ id }) => id);
  const { url, isOffline, token } = await openEndpoint();
  return [
    { check: "embedded model", state: embedded ? "ok" : "warning", detail: embedded ?? `not in ${cacheFolder()} yet` },
    {
      check: "model cache",
      state: broken.length > 0 ? "warning" : "ok",
      detail: `${cached.length} models${broken.length > 0 ? `, incomplete: ${broken.join(", ")}` : ""}`,
    },
    { check: "hub", state: "ok", detail: `${isOffline ? "offline, " : ""}${url}, ${token ? "with" : "without"} token` },
  ];
}

function checkPort(): Finding[] {
  try {
    Deno.listen({ hostname: "127.0.0.1", port: PORT_FIRST }).close();
    return [{ check: "port", state: "ok", detail: `${PORT_FIRST} is free` }];
  } catch {
    return [{ check: "port", state: "warning", detail: `${PORT_FIRST} is taken; serve will take the next free one` }];
  }
}
