// Rejection of malformed cursors.
import { type Cursor, writeCursor } from '@svc/contract';
import { startWorld } from '../world.ts';
import { expectRefused } from './malformed.ts';
import { updatesOf } from './mirror.ts';

const world = await startWorld();
const { anonymous } = world;
afterAll(() => world.stop());

const UUID = '019a0000-0000-7000-8000-000000000001';
const TIME = new Date('2026-01-02T03:04:05.678Z');

/** A well-formed cursor that the hub has not issued. */
const aCursor = (given: Partial<Cursor> = {}): Cursor => ({
  v: 1,
  of: 'anonymous',
  seen: { at: TIME, commit: UUID },
  position: { at: TIME, after: UUID },
  checked: TIME,
  ...given,
});

const encoded = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

const without = (member: keyof Cursor) =>
  Object.fromEntries(Object.entries(aCursor()).filter(([name]) => name !== member));

/**
 * A cursor whose text differs between the alphabets of base64: `?` is encoded with a slash or an
 * underscore.
 */
const ODD = aCursor({ of: '???' });
const inStandardAlphabet = (cursor: Cursor) =>
  Buffer.from(JSON.stringify(cursor)).toString('base64').replace(/=+$/, '');

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Invalid cursors, by their fault. */
const invalidCursors: Readonly<Record<string, string>> = {
  'no text': '',
  START: 'START',
  begin: 'begin',
  'start with a blank': ' start',
  null: 'null',
  zero: '0',
  'a timestamp': TIME.toISOString(),
  'JSON as it is': JSON.stringify(aCursor()),
  padding: `${writeCursor(aCursor())}=`,
  'the standard alphabet': inStandardAlphabet(ODD),
  'a dot': `${writeCursor(aCursor())}.x`,
  'a line break': `${writeCursor(aCursor())}\n`,
  overlong: encoded({ ...aCursor(), of: 'x'.repeat(5000) }),
  'overlong nesting': encoded(deep(3000)),
  'deep nesting': encoded(deep(300)),
  'deep nesting in a member': encoded(JSON.stringify({ ...aCursor(), position: 0 }).replace(':0}', `:${deep(100)}}`)),
  garbage: Buffer.from([0xde, 0xad, 0xbe, 0xef, 0x80]).toString('base64url'),
  NUL: encoded('\0'),
  'NUL inside': encoded({ ...aCursor(), seen: { at: TIME, commit: `${UUID.slice(0, -1)}\0` } }),
  'invalid UTF-8': Buffer.concat([Buffer.from('{"v":1,"of":"'), Buffer.from([0xc3, 0x28])]).toString('base64url'),
  'a byte order mark': encoded(`\ufeff${JSON.stringify(aCursor())}`),
  'a number': encoded('1'),
  'a string': encoded('"start"'),
  'an array': encoded([aCursor()]),
  'an empty object': encoded({}),
  'invalid JSON': encoded('{v:1}'),
  'two values': encoded(`${JSON.stringify(aCursor())}{}`),
  'an unknown version': encoded({ ...aCursor(), v: 2 }),
  'a version as text': encoded({ ...aCursor(), v: '1' }),
  'an extra member': encoded({ ...aCursor(), admin: true }),
  'an extra member of the position': encoded({ ...aCursor(), position: { at: TIME, id: UUID } }),
  'an extra member of the commit': encoded({ ...aCursor(), seen: { at: TIME, commit: UUID, x: 1 } }),
  __proto__: encoded(JSON.stringify(aCursor()).replace('{', '{"__proto__":{"of":"administrator"},')),
  constructor: encoded({ ...aCursor(), constructor: {} }),
  'no version': encoded(without('v')),
  'no caller': encoded(without('of')),
  'no commit': encoded(without('seen')),
  'no position': encoded(without('position')),
  'no checked': encoded(without('checked')),
  'a null caller': encoded({ ...aCursor(), of: null }),
  'a list of callers': encoded({ ...aCursor(), of: ['anonymous', 'administrator'] }),
  'a long caller': encoded({ ...aCursor(), of: 'x'.repeat(65) }),
  'a commit that is no UUID': encoded({ ...aCursor(), seen: { at: TIME, commit: "' OR true --" } }),
  'a commit that is a number': encoded({ ...aCursor(), seen: { at: TIME, commit: 1 } }),
  'a time that is a number': encoded({ ...aCursor(), checked: TIME.getTime() }),
  'a time without a zone': encoded({ ...aCursor(), checked: '2026-01-02T03:04:05' }),
  'a time that does not exist': encoded({ ...aCursor(), position: { at: '2026-02-30T00:00:00Z' } }),
  'the time now': encoded({ ...aCursor(), position: { at: 'now' } }),
  'the time infinity': encoded({ ...aCursor(), position: { at: 'infinity' } }),
  'a huge year': encoded({ ...aCursor(), position: { at: '+275760-09-13T00:00:00.000Z' } }),
  'an invalid id': encoded({ ...aCursor(), position: { at: TIME, after: 'z' } }),
  'a null id': encoded({ ...aCursor(), position: { at: TIME, after: null } }),
  'an invalid listed id': encoded({ ...aCursor(), began: TIME, listed: '' }),
  'an invalid start': encoded({ ...aCursor(), began: true }),
};

test.each(Object.entries(invalidCursors))('rejects a cursor with the fault: %s', (_, cursor) =>
  expectRefused(anonymous, `?cursor=${encodeURIComponent(cursor)}`, ['cursor', 'cursor']),
);

test('rejects a truncated cursor of every length', async () => {
  const { cursor } = await updatesOf(anonymous.get, 'cursor=start');
  for (let length = 0; length < cursor.length; length++) {
    await expectRefused(anonymous, `?cursor=${cursor.slice(0, length)}`, ['cursor', 'cursor']);
  }
});

test('accepts a cursor in the URL-safe alphabet of base64', async () => {
  expect(inStandardAlphabet(ODD)).toContain('/');
  expect(await updatesOf(anonymous.get, `cursor=${writeCursor(ODD)}`)).toMatchObject({ reset: true, has_more: false });
});
