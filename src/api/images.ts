/**
 * Images and other media, where the model reads text only.
 *
 * In a tool's result or an earlier turn an image becomes a text that says it was there, and is listed: agents send such
 * images unasked, and the conversation goes on without. In the newest message of the user it is what the question is
 * about, so it is refused by name.
 *
 * @module
 */
import type { TextPart } from "../flow.ts";
import { RequestError } from "./errors.ts";
import type { IgnoredFields } from "./fields.ts";

/** What stands in an image's place. */
export const IMAGE_NOT_SHOWN = "[image not shown: this model reads text]";

/** Where an image is. */
export interface ImagePlace {
  /** Of the part, e.g. `messages[3].content[0]`. */
  path: string;
  /** The same for the list of ignored names, e.g. `messages[].content[].image`. */
  listedPath: string;
  /** In the newest message of the user, and not inside a result. */
  isNewest: boolean;
}

/**
 * What a text-only model is shown of an image.
 *
 * @throws {RequestError} `unsupported_field`, for one that is asked about.
 */
export function toImageText({ path, listedPath, isNewest }: ImagePlace, ignored: IgnoredFields): TextPart {
  if (isNewest) {
    throw new RequestError(
      "unsupported_field",
      `\`${path}\` is not supported: it is an image, and this model reads text.`,
      {
        param: path,
      },
    );
  }
  ignored.add(listedPath);
  return { type: "text", text: IMAGE_NOT_SHOWN };
}

/**
 * What is shown of a part that is neither text nor an image.
 *
 * @param type Safe to repeat.
 * @param place Of the part; its `listedPath` is without the type.
 * @throws {RequestError} `unsupported_field`, for one that is asked about.
 */
export function toUnreadText(
  type: string,
  { path, listedPath, isNewest }: ImagePlace,
  ignored: IgnoredFields,
): TextPart {
  if (isNewest) {
    const message = `\`${path}.type\` is not supported: blocks of type ${type} can't be read by this model.`;
    throw new RequestError("unsupported_field", message, { param: `${path}.type` });
  }
  ignored.add(`${listedPath}.${type}`);
  return { type: "text", text: `[${type} not shown: this model reads text]` };
}
