/** Characters in which parsers of YAML and JSON differ. */
const SPECIAL = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
/** Texts that no parser reads as another type, except the words below. */
const PLAIN = /^[a-z][a-z0-9_-]*$/i;
/** Words that YAML 1.1 or 1.2 reads as true, false or nothing. */
const AMBIGUOUS = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

/**
 * An object as a YAML document that all parsers read identically: texts and names that are not plain words are quoted as
 * in JSON. A library for YAML would be most of the page.
 */
export const yamlText = (value: object): string =>
  Object.entries(value)
    .map(([member, one]) => `${scalarOf(member)}:${yamlOf(one, '')}\n`)
    .join('');

/** A value as YAML, with the space before it. */
function yamlOf(value: unknown, indent: string): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []';
    return value.map((item: unknown) => `\n${inner}-${itemOf(item, inner)}`).join('');
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return ' {}';
    return entries.map(([name, one]) => `\n${inner}${scalarOf(name)}:${yamlOf(one, inner)}`).join('');
  }
  return ` ${scalarOf(value)}`;
}

/** An item of a list. The members of an object begin on the line of the hyphen. */
const itemOf = (item: unknown, indent: string): string => {
  const text = yamlOf(item, indent);
  return text.startsWith('\n') ? ` ${text.trimStart()}` : text;
};

function scalarOf(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value) && !AMBIGUOUS.test(value)) return value;
  // Without a point, YAML 1.1 reads a number with an exponent as text.
  if (typeof value === 'number') return String(value).replace(/^(-?\d)e/, '$1.0e');
  return JSON.stringify(value).replace(
    SPECIAL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
