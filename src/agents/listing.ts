/**
 * What a client is configured with, as text for people: its files as they are for someone who has none, then what
 * `launch` sets.
 *
 * @module
 */
import type { Agent, Places, Target } from "./agent.ts";
import { planSetup } from "./setup.ts";

/** Where the listing puts launch's temporary files. */
const FOLDER = "TEMPORARY";

/** The text. */
export async function toListing(agent: Agent, target: Target, places: Places): Promise<string> {
  const files = await planSetup(agent, target, places, { read: () => Promise.resolve(undefined), records: [] });
  const parts = files.map(({ path, after }) => `# ${path}\n${after ?? ""}`);
  const launch = agent.launch?.(target, FOLDER);
  if (launch !== undefined) {
    const { environment, unset = [], args = [], files: temporary = {} } = launch;
    const command = [agent.program ?? "COMMAND", ...args].join(" ");
    const lines = [
      ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      ...unset.map((name) => `without ${name}`),
      ...Object.keys(temporary).map((name) => `with ${FOLDER}/${name}`),
      command,
    ];
    parts.push(`# rapid-mlx launch ${agent.id}\n${lines.join("\n")}\n`);
  }
  const notes = agent.notes?.(target) ?? [];
  if (notes.length > 0) parts.push(notes.map((note) => `# ${note}\n`).join(""));
  return parts.join("\n");
}
