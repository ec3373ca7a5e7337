import { randomBytes } from 'node:crypto';
import { formsOf, leaks } from './encoded-forms.ts';

const secret = 'svcm_ö"\\ a secret? of some/length+';
const found = (text: string) => leaks([{ name: 'it', value: secret }], { there: text });

test.each([0, 1, 2, 3, 4, 5])(
  'a secret is found in base64 and base64url with %i bytes before it, whatever follows',
  (before) => {
    for (const after of [0, 1, 2]) {
      const text = Buffer.concat([randomBytes(before), Buffer.from(secret), randomBytes(after)]);
      expect(found(`x${text.toString('base64')}y`)).toContain(`it is in there, base64 after ${before % 3} bytes`);
      expect(found(`x${text.toString('base64url')}y`)).toContain(`it is in there, base64url after ${before % 3} bytes`);
    }
  },
);

test.each([
  ['plain', secret],
  ['percent-encoded', encodeURIComponent(secret)],
  ['JSON', JSON.stringify({ secret })],
  ['JSON in JSON', JSON.stringify(JSON.stringify({ secret }))],
  ['hex', Buffer.from(`a${secret}b`).toString('hex')],
])('a secret is found as %s', (form, text) => {
  expect(found(text)).toContain(`it is in there, ${form}`);
});

test('a secret of bytes is found', () => {
  const value = randomBytes(32);
  const text = `${value.toString('hex')} ${value.toString('base64')}`;
  expect(leaks([{ name: 'a key', value }], { there: text })).toEqual(
    expect.arrayContaining(['a key is in there, hex', 'a key is in there, base64 after 0 bytes']),
  );
});

test('a secret is not found in a text without it', () => {
  expect(found(`${secret.slice(1)} ${randomBytes(1000).toString('base64')}`)).toEqual([]);
  expect(formsOf(secret).every(({ text }) => text.length > 20)).toBe(true);
});
