/**
 * The judge of bound answers: ajv, with formats, which shares no code with the grammars.
 *
 * @module
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** What is wrong with a text under a schema; undefined: it is valid JSON that the schema takes. */
export type Judge = (text: string) => string | undefined;

/** A judge of one schema. Draft 7's list of items is rewritten: ajv's 2020 reader has it no more. */
export function judgeOf(schema: unknown): Judge {
  const ajv = new Ajv2020({ strict: false });
  // The package is CommonJS: its function is one level down for some readers.
  const add = addFormats as unknown as { default?: (ajv: Ajv2020) => void } & ((ajv: Ajv2020) => void);
  (add.default ?? add)(ajv);
  const validate = ajv.compile(schema as boolean | Record<string, unknown>);
  return (text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      return `no JSON: ${error instanceof Error ? error.message : String(error)}`;
    }
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  };
}
