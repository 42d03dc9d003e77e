/**
 * What a client keeps for this server and gives back: signatures of texts that it can read, and texts that it can't.
 *
 * A token is base64 of `rmx`, a version, the key's name, then either a MAC of the text (HMAC-SHA256) or the text itself
 * (AES-256-GCM). A token of another key or server is foreign: nothing is known of it. One of ours that does not fit was
 * altered. A server of the same state folder has the same key (src/cli/open_seal.ts).
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const MAGIC = Buffer.from("rmx1");
const NAME_BYTES = 8;
const MAC_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = MAGIC.length + 1 + NAME_BYTES;
const SIGNATURE = 1;
const SEALED = 2;

/** What a token turns out to be. */
export type OpenedSeal =
  | { state: "signature" }
  | { state: "sealed"; text: string }
  /** Of this server, and not what it gave. */
  | { state: "altered" }
  /** Of another server, or no token at all. */
  | { state: "foreign" };

/** One server's keys. */
export class Seal {
  readonly #signing: Buffer;
  readonly #sealing: Buffer;
  readonly #name: Buffer;

  /** @param key At least 32 bytes; absent: new ones. */
  constructor(key: Uint8Array = randomBytes(32)) {
    this.#signing = derive(key, "sign");
    this.#sealing = derive(key, "seal");
    this.#name = derive(key, "name").subarray(0, NAME_BYTES);
  }

  /** A token that says: this text is of this server. */
  sign(text: string): string {
    return Buffer.concat([this.#head(SIGNATURE), this.#mac(text)]).toString("base64");
  }

  /** A token that holds a text, which its bearer can't read. */
  seal(text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const head = this.#head(SEALED);
    const cipher = createCipheriv("aes-256-gcm", this.#sealing, nonce);
    cipher.setAAD(head);
    const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([head, nonce, body, cipher.getAuthTag()]).toString("base64");
  }

  /** What a token is. @param text What it came with, which a signature has to fit. */
  open(token: string, text: string): OpenedSeal {
    const bytes = Buffer.from(token, "base64");
    const kind = bytes[MAGIC.length];
    if (bytes.length < HEAD_BYTES || (kind !== SIGNATURE && kind !== SEALED)) return { state: "foreign" };
    const head = this.#head(kind);
    if (!head.equals(bytes.subarray(0, HEAD_BYTES))) return { state: "foreign" };
    const rest = bytes.subarray(HEAD_BYTES);
    if (kind === SEALED) return this.#decrypt(head, rest);
    const fits = rest.length === MAC_BYTES && timingSafeEqual(rest, this.#mac(text));
    return { state: fits ? "signature" : "altered" };
  }

  #decrypt(head: Buffer, rest: Buffer): OpenedSeal {
    if (rest.length < NONCE_BYTES + TAG_BYTES) return { state: "altered" };
    const decipher = createDecipheriv("aes-256-gcm", this.#sealing, rest.subarray(0, NONCE_BYTES));
    decipher.setAAD(head);
    decipher.setAuthTag(rest.subarray(-TAG_BYTES));
    try {
      const body = decipher.update(rest.subarray(NONCE_BYTES, -TAG_BYTES));
      return { state: "sealed", text: Buffer.concat([body, decipher.final()]).toString("utf8") };
    } catch {
      return { state: "altered" };
    }
  }

  #mac(text: string): Buffer {
    return createHmac("sha256", this.#signing).update(text).digest();
  }

  #head(kind: number): Buffer {
    return Buffer.concat([MAGIC, Buffer.from([kind]), this.#name]);
  }
}

function derive(key: Uint8Array, purpose: string): Buffer {
  return createHmac("sha256", key).update(purpose).digest();
}
