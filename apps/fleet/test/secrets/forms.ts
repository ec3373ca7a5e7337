/** Something that nobody may find, by the name under which a failure tells of it. */
export interface Canary {
  readonly name: string;
  readonly value: string | Uint8Array;
}

/** Text in which a secret could be found, by where it is. */
export type Haystacks = Readonly<Record<string, string>>;

/** Every form in which a secret could stand somewhere: plain, hexadecimal, base64 however it is aligned, escaped. */
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

/** The characters of base64 that are these bytes' alone, when so many bytes come before them. */
function base64Inside(bytes: Buffer, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  const end = Math.floor(((before + bytes.length) * 8) / 6);
  return encoded.slice(Math.ceil((before * 8) / 6), end);
}

/** Where secrets were found, in words that don't repeat them: an empty list, or something leaked. */
export const leaks = (canaries: readonly Canary[], haystacks: Haystacks): readonly string[] =>
  Object.entries(haystacks).flatMap(([place, text]) =>
    canaries.flatMap(({ name, value }) =>
      formsOf(value)
        .filter((form) => text.includes(form.text))
        .map(({ form }) => `${name} is in ${place}, ${form}`),
    ),
  );
