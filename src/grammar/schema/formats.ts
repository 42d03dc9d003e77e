/**
 * Formats of strings as patterns. Each fits only what the format allows, though not all of it: no leap day or second,
 * no quoted mailbox, no address in brackets.
 *
 * Sources: RFC 3339 (date, time, date-time, duration), RFC 5321 (email), RFC 1123 (hostname), RFC 4291 (ipv6), RFC 3986
 * (uri), RFC 9562 (uuid).
 *
 * @module
 */

const DATE = "[12]\\d{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|" +
  "02-(?:0[1-9]|1\\d|2[0-8]))";
const HOUR_MINUTE = "(?:[01]\\d|2[0-3]):[0-5]\\d";
const TIME = `${HOUR_MINUTE}:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-]${HOUR_MINUTE})`;
const LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?";
const BYTE = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const HEX = "[0-9a-fA-F]";
const GROUP = `${HEX}{1,4}`;
const DURATION_TIME = "T(?:\\d{1,4}H(?:\\d{1,4}M(?:\\d{1,4}S)?)?|\\d{1,4}M(?:\\d{1,4}S)?|\\d{1,4}S)";
const DURATION_DATE = "(?:\\d{1,4}D|\\d{1,4}M(?:\\d{1,4}D)?|\\d{1,4}Y(?:\\d{1,4}M(?:\\d{1,4}D)?)?)";
const ATOM = "[a-zA-Z0-9_+-]{1,30}";

/** Formats that bind, as patterns of the whole text. */
export const FORMATS: Readonly<Record<string, string>> = {
  date: `^${DATE}$`,
  time: `^${TIME}$`,
  "date-time": `^${DATE}T${TIME}$`,
  duration: `^P(?:${DURATION_DATE}(?:${DURATION_TIME})?|${DURATION_TIME}|\\d{1,4}W)$`,
  email: `^${ATOM}(?:\\.${ATOM}){0,2}@${LABEL}(?:\\.${LABEL}){1,3}$`,
  hostname: `^${LABEL}(?:\\.${LABEL}){0,5}$`,
  ipv4: `^${BYTE}\\.${BYTE}\\.${BYTE}\\.${BYTE}$`,
  ipv6: `^(?:(?:${GROUP}:){7}${GROUP}|(?:${GROUP}:){1,5}:${GROUP}|::(?:${GROUP}:){0,5}${GROUP}|::)$`,
  uri: `^[a-z][a-z0-9+.-]{0,20}://${LABEL}(?:\\.${LABEL}){0,5}(?::[1-9]\\d{0,3})?(?:/[a-zA-Z0-9._~-]{0,60}){0,10}` +
    "(?:\\?[a-zA-Z0-9._~&=-]{0,200})?(?:#[a-zA-Z0-9._~-]{0,60})?$",
  uuid: `^${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}$`,
};

/** Formats of JSON Schema that bind and can't be followed here; others that it does not have are notes. */
export const REFUSED_FORMATS: readonly string[] = [
  "idn-email",
  "idn-hostname",
  "iri",
  "iri-reference",
  "json-pointer",
  "regex",
  "relative-json-pointer",
  "uri-reference",
  "uri-template",
];
