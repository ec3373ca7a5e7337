import { generateKeyPairSync } from 'node:crypto';
import { contentDigestOf, reasons, type Signer, signTemplate, Untrusted } from '../src/index.ts';
import { content, first, NOW, outcomeOf, second, signed, signerOf, signJws, verify } from './world.ts';

const issue = { publisher: 'acme', serial: 5, issuedAt: NOW };
const keyOf = (signer: Signer, sign: Signer['sign']): Signer => ({ key: signer.key, sign });

it('refuses to sign text that has no canonical form, and names the member', async () => {
  const broken = { ...content, description: '\ud800', env: [{ name: 'A', value: '\udfff' }] };
  await expect(signTemplate(broken, issue, first)).rejects.toThrow('description, env must not contain text');
  await expect(signJws({ note: '\ud800' }, 'svc-template+jws', first)).rejects.toThrow('text that cannot be signed');
});

it.each([
  ['publisher', { ...issue, publisher: 'A b' }],
  ['serial', { ...issue, serial: 0 }],
])('refuses to sign with another form of the %s', async (_name, wrong) => {
  await expect(signTemplate(content, wrong, first)).rejects.toThrow(/regex|pattern|>=1|small/i);
});

it('refuses to sign more than verifiers accept', async () => {
  const note = 'x'.repeat(13_000);
  await expect(signJws({ note }, 'svc-template+jws', first)).rejects.toThrow('at most 16384 are allowed');
});

it.each([
  ['that another key made', (await signerOf(generateKeyPairSync('ed25519').privateKey)).sign],
  ['that is too short', () => Buffer.alloc(8)],
  ['that is empty', () => Buffer.alloc(0)],
])('refuses a signature %s', async (_name, sign) => {
  await expect(signTemplate(content, issue, keyOf(first, sign))).rejects.toThrow('does not verify with the public key');
});

it.each([
  ['Ed25519', first],
  ['P-256', second],
])('accepts a program that signs with a key of type %s later', async (_name, signer) => {
  const later = keyOf(signer, async (input) => signer.sign(input));
  const signature = await signTemplate(content, issue, later);
  expect(await outcomeOf(verify({ members: content, signatures: [signature] }))).toBe('accepted');
});

it('gives the same content the same digest, whatever the hub adds, and other content another one', async () => {
  const digest = contentDigestOf(content);
  expect(contentDigestOf({ ...content, tags: ['x'], category_slug: 'other' })).toBe(digest);
  expect(contentDigestOf({ ...content, image_tag: '9' })).not.toBe(digest);
  expect((await verify(await signed())).remember.content).toBe(digest);
});

it('states for each reason what is wrong, what to do, and who must do it', () => {
  for (const [reason, { message, remedy, by }] of Object.entries(reasons)) {
    expect([reason, message, remedy]).toEqual([
      expect.stringMatching(/^[a-z_]+$/),
      expect.stringMatching(/^[A-Z].*\.$/),
      expect.stringMatching(/^[A-Z].*\.$/),
    ]);
    expect(by.length).toBeGreaterThan(0);
  }
  expect(new Untrusted('rollback', 'serial 5').message).toBe('rollback: serial 5');
  expect(new Untrusted('unsigned').message).toBe('unsigned');
});
