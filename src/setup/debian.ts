/**
 * Installs packages on Debian, Swift included, which Debian has since release 13 (trixie).
 *
 * On an older Debian that means a second source, signed by Debian's own keyring and taken from the mirror that is in
 * use, pinned so low that nothing else comes from it by itself. Swift brings a newer C library with it. Measured on
 * Debian 12: 560 MB to download, 2.6 GB on disk, 40 s. Asks once on a terminal; without one it goes ahead as root.
 *
 * @module
 */
import { join } from "node:path";
import { SetupError } from "./errors.ts";
import { BUILD_FOLDER } from "./folders.ts";
import type { Report } from "./report.ts";
import { requireSpace } from "./requirements.ts";
import { findProgram, readOutput, runCommand } from "./run_command.ts";

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
const SOURCE_FILE = "/etc/apt/sources.list.d/rapid-mlx-trixie.sources";
const PIN_FILE = "/etc/apt/preferences.d/rapid-mlx-trixie";
const SUITE = "trixie";
const SWIFT_PACKAGE = "swiftlang";
const SWIFT_SPACE_BYTES = 3_400_000_000;
const SMALL_SPACE_BYTES = 300_000_000;
const APT_OPTIONS = ["-y", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"];

/** True on a system with apt and Debian's name. */
export async function canInstallDebianPackages(): Promise<boolean> {
  const release = await Deno.readTextFile("/etc/os-release").catch(() => "");
  return /^ID=debian$/m.test(release) && await findProgram("apt-get") !== undefined;
}

/**
 * Installs the packages.
 *
 * @throws {SetupError} If this is not root, the person says no, the disk is full or apt fails.
 */
export async function installDebianPackages(packages: readonly string[], report: Report): Promise<void> {
  const withSwift = packages.includes(SWIFT_PACKAGE);
  const size = withSwift ? "about 560 MB to download, 2.6 GB on disk, and a newer C library (from Debian 13)" : "small";
  report.step(`System packages: ${packages.join(", ")} (${size})`);
  if (Deno.uid() !== 0) {
    throw new SetupError(
      `Installing ${packages.join(", ")} needs root. Run this command once as root, or install them yourself` +
        (withSwift ? "; Swift can also come from https://www.swift.org/install." : "."),
    );
  }
  await requireConsent(report);
  await requireSpace("/usr", withSwift ? SWIFT_SPACE_BYTES : SMALL_SPACE_BYTES, "Installing the system packages");
  // An earlier run may have been stopped between unpacking and configuring; without one this does nothing.
  await runDpkg(report);
  await apt(["update"], "reading the package lists", report);
  // Compiler and headers must come from one release: they share the C library.
  const suite = withSwift || packages.includes("g++") ? await findSwiftSuite(withSwift, report) : undefined;
  const release = suite === undefined ? [] : ["-t", suite];
  const options = ["install", "--no-install-recommends", "-o", "Dpkg::Options::=--force-confold", ...release];
  await apt([...options, ...packages], "installing system packages", report);
}

/** Asks once where somebody can answer; goes ahead, and says so, where nobody can. */
async function requireConsent(report: Report): Promise<void> {
  if (!Deno.stdin.isTerminal()) {
    report.note("Nobody to ask (no terminal); going ahead, since this is root. --no-system-packages forbids it.");
    return await Promise.resolve();
  }
  if (!confirm("Install them now?")) throw new SetupError("Stopped: the system packages were not installed.");
}

/** The release that offers Swift; adds trixie when none does and Swift is wanted. */
async function findSwiftSuite(isWanted: boolean, report: Report): Promise<string | undefined> {
  const offered = parseSuite(await readOutput(["apt-cache", "madison", SWIFT_PACKAGE]) ?? "");
  if (offered !== undefined || !isWanted) return offered;
  const uri = findDebianUri(await readSources());
  if (uri === undefined) {
    throw new SetupError("No source of Debian itself is configured in /etc/apt, so Swift can't be found there.");
  }
  if (!await Deno.stat(KEYRING).then(() => true, () => false)) {
    throw new SetupError(`Debian's keyring ${KEYRING} is missing; install the package debian-archive-keyring.`);
  }
  report.note(`Adding ${uri} ${SUITE} in ${SOURCE_FILE}, pinned at 100 in ${PIN_FILE}.`);
  await Deno.writeTextFile(SOURCE_FILE, toSource(uri));
  await Deno.writeTextFile(PIN_FILE, `Package: *\nPin: release n=${SUITE}\nPin-Priority: 100\n`);
  await apt(["update"], "reading the package lists", report);
  if (parseSuite(await readOutput(["apt-cache", "madison", SWIFT_PACKAGE]) ?? "") === SUITE) return SUITE;
  // apt-get update ends well without a network; a source that gives nothing must not stay.
  await Promise.all([SOURCE_FILE, PIN_FILE].map((path) => Deno.remove(path)));
  throw new SetupError(
    `The package list of ${uri} ${SUITE} could not be fetched. Is the network reachable? ` +
      `What apt said is in ${logPathOf("update")}; when it works, run the command again.`,
  );
}

function logPathOf(command: string): string {
  return join(BUILD_FOLDER, `logs/apt-${command}.log`);
}

/** A deb822 source. */
export function toSource(uri: string): string {
  return `Types: deb\nURIs: ${uri}\nSuites: ${SUITE}\nComponents: main\nSigned-By: ${KEYRING}\n`;
}

/**
 * The release in the first line of `apt-cache madison`:
 *
 *     swiftlang |    6.0.3-2 | http://mirror.example/debian trixie/main amd64 Packages
 */
export function parseSuite(madison: string): string | undefined {
  return /^\s*\S+\s+\|\s+\S+\s+\|\s+\S+\s+([a-z0-9-]+)\/\S+\s+\S+\s+Packages/m.exec(madison)?.[1];
}

/** The mirror of the main archive in the texts of apt's source files, in either format; never the security archive. */
export function findDebianUri(sources: readonly string[]): string | undefined {
  const uris = sources.flatMap((text) => {
    const active = text.split("\n").filter((line) => !line.trimStart().startsWith("#")).join("\n");
    const classic = [...active.matchAll(/^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s/gm)].map((match) => match[1]!);
    const stanzas = active.split(/\n\s*\n/)
      .filter((stanza) => /^Types:.*\bdeb\b/m.test(stanza) && !/^Enabled:\s*no/m.test(stanza));
    const deb822 = stanzas.flatMap((stanza) => /^URIs:\s*(.+)$/m.exec(stanza)?.[1]?.trim().split(/\s+/) ?? []);
    return [...classic, ...deb822];
  });
  return uris.find((uri) => /\/debian\/?$/.test(uri));
}

async function readSources(): Promise<string[]> {
  const folder = "/etc/apt/sources.list.d";
  const paths = ["/etc/apt/sources.list"];
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (/\.(list|sources)$/.test(entry.name)) paths.push(join(folder, entry.name));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return await Promise.all(paths.map((path) => Deno.readTextFile(path).catch(() => "")));
}

async function runDpkg(report: Report): Promise<void> {
  const environment = { DEBIAN_FRONTEND: "noninteractive" };
  const options = { report, task: "finishing what was interrupted", logPath: logPathOf("configure"), environment };
  await runCommand(["dpkg", "--force-confold", "--configure", "-a"], options);
}

async function apt(command: readonly string[], task: string, report: Report): Promise<void> {
  await runCommand(["apt-get", ...APT_OPTIONS, ...command], {
    report,
    task,
    logPath: logPathOf(command[0] ?? "get"),
    environment: { DEBIAN_FRONTEND: "noninteractive" },
  });
}
