/**
 * Plays a recorded conversation as its agent does: each request brings back what the server answered, in the agent's
 * own writing, under the server's ids.
 *
 * @module
 */
import { type Chain, requireWire } from "./chains.ts";
import type { PrefixServer } from "./server.ts";
import type { Json } from "./wires.ts";

/** Asks every step. @param change What the agent does to a body, beside what was recorded. */
export async function playChain(
  server: PrefixServer,
  { route, steps }: Chain,
  change: (body: Json, step: number) => Json = (body) => body,
): Promise<void> {
  const wire = requireWire(route);
  const ids = new Map<string, string>();
  const answers: Json[] = [];
  for (const [at, { body, said, items }] of steps.entries()) {
    let turn = -1;
    let inside = false;
    const list = body[wire.field].flatMap((item: Json) => {
      const isAnswer = wire.isAnswer(item);
      if (isAnswer && !inside) turn++;
      inside = isAnswer;
      return isAnswer && turn < answers.length ? wire.refill(item, answers[turn]) : [item];
    });
    let json = JSON.stringify(change({ ...body, [wire.field]: list }, at));
    for (const [recorded, ours] of ids) json = json.replaceAll(recorded, ours);
    const answer = await server.ask(route, JSON.parse(json), said);
    answers.push(answer);
    const answered = wire.answeredIds(answer);
    for (const [place, id] of items.flatMap(wire.callIds).entries()) {
      const ours = answered[place];
      if (ours === undefined) throw new Error(`The answer has no call ${place}: ${JSON.stringify(answer)}`);
      ids.set(id, ours);
    }
  }
}
