/**
 * Every valid body has at least this many bytes of its limit for each value. More values than that
 * take much longer to parse than the same bytes in strings.
 */
const BYTES_PER_VALUE = 50;

/**
 * No object of a valid body has more members. The names of members are the most expensive values to
 * parse.
 */
const MAX_MEMBERS = 512;

const MAX_DEPTH = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

/**
 * Checks the structure of a JSON text before it is parsed, in one pass over its bytes. Text that is
 * not JSON may pass, but the bounds then limit the work of its parser, too.
 * @returns the problem, or undefined if the text has at most MAX_DEPTH levels, at most MAX_MEMBERS
 * in each object, and few values for the limit of its size in bytes
 */
export function structureProblem(json: Uint8Array, limit: number): string | undefined {
  const maxValues = Math.floor(limit / BYTES_PER_VALUE);
  /** The colons so far in the arrays and objects that are open, the innermost last. */
  const members = [0];
  let values = 1;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === COMMA) values += 1;
    else if (byte === COLON) {
      const count = (members.pop() ?? 0) + 1;
      if (count > MAX_MEMBERS) return `must have at most ${MAX_MEMBERS} members in each object`;
      members.push(count);
    } else if (isOpening(byte)) {
      values += 1;
      members.push(0);
      if (members.length > MAX_DEPTH + 1) return `must not be nested more than ${MAX_DEPTH} levels deep`;
    } else if (isClosing(byte)) members.pop();
    if (values > maxValues) return `must have at most ${maxValues} values in all arrays and objects`;
  }
  return undefined;
}

const isOpening = (byte: number | undefined) => byte === 0x5b || byte === 0x7b;
const isClosing = (byte: number | undefined) => byte === 0x5d || byte === 0x7d;

/** The index of the quotation mark that ends the string. */
function endOfString(json: Uint8Array, start: number): number {
  let end = json.indexOf(QUOTE, start + 1);
  while (end > 0 && isEscaped(json, end)) end = json.indexOf(QUOTE, end + 1);
  return end < 0 ? json.length : end;
}

function isEscaped(json: Uint8Array, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
