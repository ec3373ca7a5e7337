import { expect, test } from '@jest/globals';
import { applicationYaml } from '@svc/convert';
import { convertPasted, isTooLarge } from '../src/shared/convert/pasted.ts';

const BOUND = 262_144;

test('a pasted file becomes an application, with the given name if it has none', () => {
  const result = convertPasted('services: { web: { image: "nginx:1.29", ports: ["80"] } }', ' Shop ');
  expect(result).toMatchObject({ application: { name: 'Shop', slug: 'shop', parts: [{ name: 'web' }] } });
  if (typeof result === 'string' || !result.application) throw new Error('not converted');
  expect(applicationYaml(result.application)).toContain('image_name: nginx\n');
});

test('a text at the bound is read, and a larger one or an empty one is not', () => {
  const text = 'services: { web: { image: "nginx:1.29" } }\n';
  const atBound = text + '#'.repeat(BOUND - text.length);
  expect(convertPasted(atBound, '')).toMatchObject({ application: { name: 'application' } });
  expect(convertPasted(`${atBound}#`, '')).toBe('large');
  expect(convertPasted(' \n', '')).toBe('empty');
});

test('a chosen file is not read if it has more bytes than the characters of a file can have', () => {
  expect([BOUND * 4, BOUND * 4 + 1].map((size) => isTooLarge({ size }))).toEqual([false, true]);
});
