/**
 * The recorded requests of a program as conversations: requests of which each goes on where the one before ended.
 *
 * @module
 */
import type { RecordedRequests } from "../record.ts";
import type { Said } from "./models.ts";
import { type Json, PREFIX_WIRES, type PrefixWire } from "./wires.ts";

/** One step: what is asked, and what the model answers to it; the last step is not answered. */
export interface ChainStep {
  /** As it was recorded, or the recorded beginning of a later one. */
  body: Json;
  /** What the next request says that the model answered. */
  said?: Said;
  /** Those items of the next request. */
  items: Json[];
}

/** A conversation. */
export interface Chain {
  /** Of all its requests. */
  route: string;
  /** At least two. */
  steps: ChainStep[];
}

/** The conversations of a program. */
export function toChains({ requests }: RecordedRequests): Chain[] {
  const runs: { route: string; bodies: Json[] }[] = [];
  for (const { route, body: recorded } of requests) {
    const body = withoutGrammars(recorded);
    const wire = requireWire(route);
    const last = runs.at(-1);
    if (last?.route === route && goesOn(last.bodies.at(-1), body, wire)) last.bodies.push(body);
    else runs.push({ route, bodies: [body] });
  }
  return runs.map(({ route, bodies }) => toChain(route, bodies)).filter(({ steps }) => steps.length > 1);
}

/** The wire of a route. */
export function requireWire(route: string): PrefixWire {
  const wire = PREFIX_WIRES[route];
  if (wire === undefined) throw new Error(`No wire of the prefix tests has the route ${route}`);
  return wire;
}

/** Texts of the recordings are cut, so a patch does not fit its grammar any more. */
function withoutGrammars(body: Json): Json {
  const { tools } = body;
  return tools === undefined ? body : { ...body, tools: tools.map(({ format: _, ...tool }: Json) => tool) };
}

function goesOn(before: Json, body: Json, wire: PrefixWire): boolean {
  const [earlier, later] = [before[wire.field], body[wire.field]];
  const ids = (items: Json[]): string[] => items.filter(wire.isAnswer).flatMap(wire.callIds);
  const known = new Set(ids(later));
  return (before.tools !== undefined) === (body.tools !== undefined) && later.length > earlier.length &&
    ids(earlier).every((id) => known.has(id));
}

/** Every turn of the model is a step: of requests that were not recorded the last one has the beginning. */
function toChain(route: string, bodies: readonly Json[]): Chain {
  const wire = requireWire(route);
  const last = bodies.at(-1);
  const list: Json[] = last[wire.field];
  const steps: ChainStep[] = [];
  for (let at = 0; at < list.length; at++) {
    if (!wire.isAnswer(list[at])) continue;
    const end = list.findIndex((item, place) => place > at && !wire.isAnswer(item));
    const items = list.slice(at, end < 0 ? list.length : end);
    const recorded = bodies.find((body) => body[wire.field].length === at);
    const said: Said = { reasoning: "", content: "", calls: [] };
    for (const item of items) wire.read(item, said);
    steps.push({
      body: recorded ?? { ...last, [wire.field]: list.slice(0, at) },
      said: withoutDefaults(said, last.tools ?? []),
      items,
    });
    at += items.length - 1;
  }
  return { route, steps: [...steps, { body: last, items: [] }] };
}

/** A model does not write what the client has put in. */
function withoutDefaults(said: Said, tools: Json[]): Said {
  const calls = said.calls.map(({ name, arguments: given }) => {
    const tool = tools.map((one) => one.function ?? one).find((one) => one.name === name);
    const properties = (tool?.input_schema ?? tool?.parameters)?.properties ?? {};
    const kept = Object.entries(given).filter(([key, value]) => properties[key]?.default !== value);
    return { name, arguments: Object.fromEntries(kept) };
  });
  return { ...said, calls };
}
