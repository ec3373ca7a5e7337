import { assertProperty } from '@svc/testing/properties';
import fc from 'fast-check';
import { objectName, volumeName } from '../../src/render/labels.ts';

const dnsLabel = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
const row = fc.record({ id: fc.uuid(), name: dnsLabel });

test('makes names that are valid for all engines, with room for their suffixes', () => {
  assertProperty(
    fc.property(row, (given) => {
      expect(objectName(given)).toMatch(/^[a-z](?:[a-z0-9-]{0,44}[a-z0-9])$/);
      expect(volumeName(given)).toMatch(/^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/);
    }),
  );
});

test('a name tells what it is of', () => {
  expect(objectName({ id: '019a0000-0000-7000-8000-0000decade01', name: 'web' })).toBe('web-decade01');
  expect(objectName({ id: '019a0000-0000-7000-8000-0000decade01', name: '7zip' })).toBe('d-7zip-decade01');
});

test('a deployment that is made again under its name, in the same moment, has another name for its objects', () => {
  const [old, another] = ['019a0000-0000-7000-8000-0000decade01', '019a0000-0000-7000-8000-0000decade02'];
  expect(objectName({ id: old, name: 'web' })).not.toBe(objectName({ id: another, name: 'web' }));
});

test('a name that has to be cut does not end in a hyphen before the end of its id', () => {
  expect(objectName({ id: '019a0000-0000-7000-8000-0000decade01', name: `${'a'.repeat(36)}--b` })).toBe(
    `${'a'.repeat(36)}-decade01`,
  );
});
