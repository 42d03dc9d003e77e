/**
 * The programs that set-up needs: Swift 6, C++ headers for it, Python with pip. Finds them, or installs what is
 * missing.
 *
 * Only looks for the programs themselves, never at the release of the system. Installing is Debian's (debian.ts);
 * elsewhere the error says what to install.
 *
 * @module
 */
import { dirname, join } from "node:path";
import { canInstallDebianPackages, installDebianPackages } from "./debian.ts";
import { SetupError } from "./errors.ts";
import { homeFolder } from "./folders.ts";
import type { Report } from "./report.ts";
import { findProgram, readOutput } from "./run_command.ts";
import type { Pip } from "./wheel.ts";

/** Whether set-up may install system packages: ask on a terminal, or never. */
export type SystemPackages = "ask" | "forbidden";

/** Python, and how to reach its pip. */
export interface PythonTools {
  /** Program. */
  readonly python: string;
  /** Program and first arguments. */
  readonly pip: Pip;
}

/** What the steps after this one use. */
export interface Toolchain extends PythonTools {
  /** The `swift` program. */
  readonly swift: string;
  /** Some of it was installed just now. */
  readonly isNew: boolean;
}

/** Something missing: the Debian package that brings it, and the words for other systems. */
interface Missing {
  readonly debianPackage: string;
  readonly remedy: string;
}

const SWIFT_MAJOR_MIN = 6;

const MISSING = {
  swift: {
    debianPackage: "swiftlang",
    remedy: "Swift 6.0 or later, from https://www.swift.org/install (on a Mac: xcode-select --install)",
  },
  cxx: { debianPackage: "g++", remedy: "the C++ standard library's headers (package g++, gcc-c++ or libstdc++-dev)" },
  pip: { debianPackage: "python3-pip", remedy: "Python 3 with pip (package python3-pip)" },
} satisfies Record<string, Missing>;

/** Swift, C++ headers and pip. @throws {SetupError} If one is missing and can't be installed; says which and how. */
export async function ensureToolchain(systemPackages: SystemPackages, report: Report): Promise<Toolchain> {
  const swift = await findSwift();
  const python = await findPython();
  const hasHeaders = swift !== undefined && await hasCxxHeaders(swift);
  const missing = [
    ...swift === undefined ? [MISSING.swift] : [],
    ...hasHeaders ? [] : [MISSING.cxx],
    ...python === undefined ? [MISSING.pip] : [],
  ];
  if (swift !== undefined && python !== undefined && missing.length === 0) return { swift, ...python, isNew: false };
  await install(missing, systemPackages, report);
  const swiftNow = swift ?? await findSwift();
  const pythonNow = python ?? await findPython();
  if (swiftNow !== undefined && pythonNow !== undefined && await hasCxxHeaders(swiftNow)) {
    return { swift: swiftNow, ...pythonNow, isNew: true };
  }
  throw new SetupError(`The packages were installed, but this is still missing: ${missing.map(toRemedy).join("; ")}.`);
}

/** Python and pip alone, for steps that build nothing. @throws {SetupError} As `ensureToolchain`. */
export async function ensurePython(systemPackages: SystemPackages, report: Report): Promise<PythonTools> {
  const python = await findPython();
  if (python !== undefined) return python;
  await install([MISSING.pip], systemPackages, report);
  const pythonNow = await findPython();
  if (pythonNow !== undefined) return pythonNow;
  throw new SetupError(`The packages were installed, but this is still missing: ${MISSING.pip.remedy}.`);
}

async function install(missing: readonly Missing[], systemPackages: SystemPackages, report: Report): Promise<void> {
  const remedies = missing.map(toRemedy).join("; ");
  if (systemPackages === "forbidden") {
    throw new SetupError(`Missing: ${remedies}. Set-up was told not to install system packages.`);
  }
  if (!await canInstallDebianPackages()) throw new SetupError(`Missing: ${remedies}. Install it and run again.`);
  await installDebianPackages(missing.map(({ debianPackage }) => debianPackage), report);
}

function toRemedy({ remedy }: Missing): string {
  return remedy;
}

/** Path of `swift` of the first Swift 6 toolchain: PATH first, then where installers put it. */
export async function findSwift(): Promise<string | undefined> {
  const onPath = await findProgram("swift");
  const home = homeFolder();
  const candidates = [
    ...onPath === undefined ? [] : [onPath],
    join(home, ".local/share/swiftly/bin/swift"),
    "/usr/libexec/swift/bin/swift",
  ];
  for (const swift of candidates) {
    const major = /Swift version (\d+)\./.exec(await readOutput([`${swift}c`, "--version"]) ?? "")?.[1];
    if (major !== undefined && Number(major) >= SWIFT_MAJOR_MIN) return swift;
  }
  return undefined;
}

/** True when the toolchain's own clang finds the C++ standard library. */
async function hasCxxHeaders(swift: string): Promise<boolean> {
  if (Deno.build.os === "darwin") return true;
  const beside = join(dirname(await Deno.realPath(swift)), "clang++");
  const clang = await Deno.stat(beside).then(() => beside, () => "clang++");
  const probe = await Deno.makeTempFile({ suffix: ".cpp" });
  try {
    await Deno.writeTextFile(probe, "#include <vector>\n#include <cstdlib>\n");
    return await readOutput([clang, "-std=c++20", "-fsyntax-only", probe]) !== undefined;
  } finally {
    await Deno.remove(probe);
  }
}

/** Python with a pip that works, on PATH. */
export async function findPython(): Promise<PythonTools | undefined> {
  for (const name of ["python3", "python"]) {
    const python = await findProgram(name);
    if (python === undefined) continue;
    if (await readOutput([python, "-m", "pip", "--version"]) !== undefined) {
      return { python, pip: [python, "-m", "pip"] };
    }
    const pip = await findProgram("pip3") ?? await findProgram("pip");
    if (pip !== undefined && await readOutput([pip, "--version"]) !== undefined) return { python, pip: [pip] };
  }
  return undefined;
}
