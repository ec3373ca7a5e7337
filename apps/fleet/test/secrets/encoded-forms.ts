/** A value that must not be found, and the name by which a failure reports it. */
export interface Canary {
  readonly name: string;
  readonly value: string | Uint8Array;
}

/** Texts in which a secret could be found, by location. */
export type Haystacks = Readonly<Record<string, string>>;

/**
 * Each form in which a secret could occur: plain, hexadecimal, base64 at each alignment, escaped.
 */
export function formsOf(value: string | Uint8Array): readonly { readonly form: string; readonly text: string }[] {
  const bytes = Buffer.from(value);
  const plain = typeof value === 'string' ? value : bytes.toString('base64');
  const aligned = [0, 1, 2].flatMap((before) => {
    const inner = base64Inside(bytes, before);
    const url = inner.replaceAll('+', '-').replaceAll('/', '_');
    return [
      { form: `base64 after ${before} bytes`, text: inner },
      { form: `base64url after ${before} bytes`, text: url },
    ];
  });
  return [
    { form: 'plain', text: plain },
    { form: 'percent-encoded', text: encodeURIComponent(plain) },
    { form: 'JSON', text: JSON.stringify(plain).slice(1, -1) },
    { form: 'JSON in JSON', text: JSON.stringify(JSON.stringify(plain)).slice(3, -3) },
    { form: 'reversed', text: [...plain].reverse().join('') },
    { form: 'hex', text: bytes.toString('hex') },
    { form: 'HEX', text: bytes.toString('hex').toUpperCase() },
    ...aligned,
  ];
}

/** The base64 characters that depend only on these bytes if this many bytes precede them. */
function base64Inside(bytes: Buffer, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  const end = Math.floor(((before + bytes.length) * 8) / 6);
  return encoded.slice(Math.ceil((before * 8) / 6), end);
}

/**
 * The locations of secrets, in messages that do not repeat them. An empty list means that there are
 * no leaks.
 */
export const leaks = (canaries: readonly Canary[], haystacks: Haystacks): readonly string[] =>
  Object.entries(haystacks).flatMap(([place, text]) =>
    canaries.flatMap(({ name, value }) =>
      formsOf(value)
        .filter((form) => text.includes(form.text))
        .map(({ form }) => `${name} is in ${place}, ${form}`),
    ),
  );
