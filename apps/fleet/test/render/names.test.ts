import { assertProperty } from '@svc/testing/properties';
import fc from 'fast-check';
import { objectName, volumeName } from '../../src/render/labels.ts';

const dnsLabel = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
const row = fc.record({ id: fc.uuid(), name: dnsLabel });

test('object names are valid for all engines, and leave room for suffixes', () => {
  assertProperty(
    fc.property(row, (given) => {
      expect(objectName(given)).toMatch(/^[a-z](?:[a-z0-9-]{0,44}[a-z0-9])$/);
      expect(volumeName(given)).toMatch(/^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/);
    }),
  );
});

test('an object name contains the name of its deployment', () => {
  expect(objectName({ id: '019a0000-0000-7000-8000-0000decade01', name: 'web' })).toBe('web-decade01');
  expect(objectName({ id: '019a0000-0000-7000-8000-0000decade01', name: '7zip' })).toBe('d-7zip-decade01');
});

test('a deployment that is recreated with the same name at the same time has other object names', () => {
  const old = '019a0000-0000-7000-8000-0000decade01';
  const another = '019a0000-0000-7000-8000-0000decade02';
  expect(objectName({ id: old, name: 'web' })).not.toBe(objectName({ id: another, name: 'web' }));
});

test('an object name that is truncated has no hyphen before its ID', () => {
  expect(objectName({ id: '019a0000-0000-7000-8000-0000decade01', name: `${'a'.repeat(36)}--b` })).toBe(
    `${'a'.repeat(36)}-decade01`,
  );
});
