/**
 * The rules that every wire keeps so that agents and client libraries work, and the tests that hold each: the one of
 * this folder first, then those that look closer.
 *
 * @module
 */

/** A rule. */
export interface Rule {
  /** What a client may rely on. */
  rule: string;
  /** File → names of its tests. */
  tests: Readonly<Record<string, readonly string[]>>;
}

const ROUTES = "tests/wires/routes_test.ts";
const REQUESTS = "tests/wires/requests_test.ts";
const STREAMS = "tests/wires/streams_test.ts";
const ERRORS = "tests/wires/errors_test.ts";
const LAUNCHER = "tests/wires/launcher_test.ts";
const MESSAGES_REQUEST = "src/api/messages/request_test.ts";

/** All of them. */
export const RULES: readonly Rule[] = [
  {
    rule: "Paths of all wires, with any query; chats and models without /v1; 404 of JSON and no WebSocket at once",
    tests: {
      [ROUTES]: [
        "Every path that clients call is there, with any query, and those of chats and models without /v1 too",
        "A path that is not there is a 404 of JSON at once, and a WebSocket is refused before it is one",
        "A request counts the same, asked beforehand or answered, on the wires that can be asked",
      ],
      "src/http/app_test.ts": [
        "every versioned route answers with and without /v1",
        "HEAD answers like GET without a body",
      ],
    },
  },
  {
    rule: "Bearer and x-api-key are one key on every route, and none is needed without one set",
    tests: {
      [ROUTES]: ["One key opens every wire from either header, and without a key set any credential does"],
      "src/http/guards_test.ts": ["the key is read from both headers, and every credential that is shown must match"],
    },
  },
  {
    rule: "Entries of /v1/models have what both families read",
    tests: {
      [ROUTES]: ["An entry of the models has what both families of clients read, the window under every name"],
      "src/http/app_test.ts": ["model entries satisfy both families of clients, and pages can be asked for"],
    },
  },
  {
    rule: "No unknown field, hint or beta is refused; what is refused for a reason says so in the family's words",
    tests: {
      [REQUESTS]: [
        "No hint, beta or unknown field is refused; what has no effect is named in a header",
        "A field that is refused for a reason is refused by its path, on Messages in the words that agents drop it by",
      ],
      "tests/api/openai_fields_test.ts": ["every field of a chat completion request works, is refused or is listed"],
      "tests/api/anthropic_fields_test.ts": ["every field of a Messages request works, is refused or is listed"],
    },
  },
  {
    rule: "A bound of tokens beyond the window is clamped to what is left",
    tests: {
      [REQUESTS]: ["An answer may be asked to be longer than the window: it gets what is left, and that is listed"],
      "src/http/routes/chat_completions_test.ts": [
        "max_tokens ends an answer with length; more than the context leaves is clamped and listed",
      ],
    },
  },
  {
    rule: "System and developer messages stand anywhere; content is a string, parts, null or absent",
    tests: {
      [REQUESTS]: [
        "System and developer messages are rendered where they stand, any number of them, the same from every wire",
        "Content is a string, a list of parts, null or nothing, and a string is the list of its one part",
      ],
      [MESSAGES_REQUEST]: [
        "system is a string or blocks, system messages may be anywhere, and the billing line is cut and listed",
      ],
    },
  },
  {
    rule: "Tools of every type are taken, those that run elsewhere left out; schemas of 62 kB with every keyword",
    tests: {
      [REQUESTS]: [
        "Sixty tools of 62 kB are taken as they are; tools that another server runs are left out and listed",
        "Tools are functions of no type or of the wire's, freeform ones with a grammar, groups and searches",
      ],
    },
  },
  {
    rule: "Calls of groups name both apart; freeform calls carry raw text",
    tests: {
      [REQUESTS]: ["A call of a group names tool and group apart, and a freeform call leaves as its raw text"],
    },
  },
  {
    rule: "Tools that were searched for are rendered where they were found, and count as declared from there on",
    tests: {
      [REQUESTS]: [
        "Deferred tools are kept out of the head, shown where a search found them, and may be called from then on",
      ],
      [MESSAGES_REQUEST]: ["a deferred tool is shown where a result refers to it, and may be called from then on"],
    },
  },
  {
    rule: "Results in every shape: strings, parts, images, failures, several at once, beside text, with a name",
    tests: {
      [REQUESTS]: [
        "Results are strings or lists, failed or not, several at once, with text beside them, and render the same",
        "An image in a result is told to be one and listed, never refused",
      ],
      "tests/api/tools_test.ts": [
        "Histories of other servers are taken: foreign ids, null content, parts, objects as arguments, no ids",
      ],
    },
  },
  {
    rule: "Thinking comes back in each wire's form, or not at all, and renders one prompt",
    tests: {
      [REQUESTS]: [
        "Thinking that comes back as the wire gave it, or not at all, renders the same prompt from each",
      ],
      "tests/api/anthropic_client_test.ts": [
        "thinking is shown, sealed or hidden as asked, and comes back the same in each form",
      ],
    },
  },
  {
    rule: "Ids that this server never made are taken, without anything kept here",
    tests: {
      [REQUESTS]: [
        "Calls and items of other servers are taken with their ids, and nothing needs to have been kept here",
      ],
    },
  },
  {
    rule: "Choices of tools, required calls, stops and formats are kept to",
    tests: {
      [REQUESTS]: [
        "A choice of tools holds: none offers none, any or one by name is called by a model that would rather talk",
        "Formats of answers and lists of stops are kept to on every wire that has them",
      ],
      "src/http/routes/bound_test.ts": [
        "every field that binds an answer binds it",
        "a required call is made by a model that would not, in every dialect that can be bound",
      ],
    },
  },
  {
    rule: "Two requests of one client neither wait for each other nor push each other out of the cache",
    tests: {
      [REQUESTS]: ["Two requests of one client run side by side: neither waits for the other's end"],
      "tests/e2e/together_test.ts": [
        "sixteen requests at once say what each says alone, and four that leave are gone without a trace",
      ],
    },
  },
  {
    rule: "Headers at once; silence is filled by events that clients count, every 15 s",
    tests: {
      [STREAMS]: [
        "Headers and the first event come before the first step, and a silent prefill shows life every 15 s",
      ],
      "src/http/sse_test.ts": ["every silence of 15 s is filled, and the frame that was late is not lost"],
    },
  },
  {
    rule: "Chunks of chats: heads, role, calls, end, usage",
    tests: {
      [STREAMS]: [
        "Each chunk of a chat has its head; role, calls and end stand where clients look; usage comes if asked for",
        "However an answer ends by itself, a chat says why in its last chunk",
      ],
      "src/http/routes/chat_completions_test.ts": [
        "a chat streams: role first, text, one finish, usage only if asked, [DONE] last, one id",
      ],
    },
  },
  {
    rule: "Events of responses: one id, items that open and close, an end with everything, or incomplete, or failed",
    tests: {
      [STREAMS]: [
        "A response has one id throughout; its items open, fill and close in order, and its end has all of them",
        "A response that was cut ends as incomplete, and says what cut it",
      ],
      [ERRORS]: [
        "A stream that breaks tells it in the wire's own event and never looks whole; before its first byte it is a status",
      ],
    },
  },
  {
    rule: "Events of messages: names, nesting, usage at both ends; the same request whole",
    tests: {
      [STREAMS]: [
        "Blocks of a message are strictly nested between a start with usage and an end with reason and usage",
        "A request says the same streamed and whole on every wire, so that a client may fall back to either",
      ],
      "src/http/routes/messages_test.ts": [
        "a message streams: strictly nested events under their names, usage at both ends",
      ],
    },
  },
  {
    rule: "A call that was cut is never sent as one",
    tests: {
      [STREAMS]: ["A call that the bound of tokens cuts leaves as none, wherever it was cut"],
      "tests/api/tools_test.ts": ["A call that is cut never leaves as a call, and says length"],
    },
  },
  {
    rule: "A turn shows something: thinking that would end it is closed and goes on",
    tests: {
      [STREAMS]: ["A turn of thinking alone is closed and sampled on before it ends"],
      "tests/api/thinking_test.ts": ["A turn that would end with thinking is closed and goes on"],
    },
  },
  {
    rule: "Refusals are in the envelope of their wire",
    tests: {
      [ERRORS]: [
        "Every refusal is in its wire's envelope, whoever refuses: guard, key, body, field, model, window",
      ],
    },
  },
  {
    rule: "Busy and loading say how long to wait, and are never told as a missing key or model",
    tests: {
      [ERRORS]: [
        "Busy is 429 and loading is 503, each with whole seconds to wait, before any event of a stream",
        "States that pass are never told as a missing key or a missing model",
      ],
    },
  },
  {
    rule: "Too long is a 400 with both numbers in known words; the window is told beforehand",
    tests: {
      [ERRORS]: [
        "A prompt that is too long is a 400 with both numbers in the family's words, and the models tell the window",
      ],
    },
  },
  {
    rule: "A failure in mid-stream is the wire's own event, or a cut connection; never a clean end",
    tests: {
      [ERRORS]: [
        "A stream that breaks tells it in the wire's own event and never looks whole; before its first byte it is a status",
        "A transient fault may cut the connection instead: the body then has no proper end",
      ],
    },
  },
  {
    rule: "The launcher tells clients window, length and patience",
    tests: {
      [LAUNCHER]: ["is told the window, its answers' length and a patience that a slow prefill fits in"],
      "src/agents/clients/clients_test.ts": ["Each client knows window or timeout where it has a setting for it"],
    },
  },
];
