// What a cursor gets that is none, that was changed on its way, or that somebody wrote.
import { type Cursor, writeCursor } from '@svc/contract';
import { startWorld } from '../world.ts';
import { expectRefused } from './malformed.ts';
import { updatesOf } from './mirror.ts';

const world = await startWorld();
const { nobody } = world;
afterAll(() => world.stop());

const UUID = '019a0000-0000-7000-8000-000000000001';
const LATER = new Date('2026-01-02T03:04:05.678Z');

/** A cursor that nobody was given. */
const aCursor = (given: Partial<Cursor> = {}): Cursor => ({
  v: 1,
  of: 'anonymous',
  seen: { at: LATER, commit: UUID },
  position: { at: LATER, after: UUID },
  checked: LATER,
  ...given,
});

const encoded = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

const without = (member: keyof Cursor) =>
  Object.fromEntries(Object.entries(aCursor()).filter(([name]) => name !== member));

/** Its text differs between the alphabets of base64: `?` makes a slash or an underscore. */
const ODD = aCursor({ of: '???' });
const inStandardAlphabet = (cursor: Cursor) =>
  Buffer.from(JSON.stringify(cursor)).toString('base64').replace(/=+$/, '');

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Texts that are no cursor, by what is wrong with them. */
const noCursors: Readonly<Record<string, string>> = {
  nothing: '',
  START: 'START',
  begin: 'begin',
  'start with a blank': ' start',
  null: 'null',
  zero: '0',
  'a timestamp': LATER.toISOString(),
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
  'NUL inside': encoded({ ...aCursor(), seen: { at: LATER, commit: `${UUID.slice(0, -1)}\0` } }),
  'invalid UTF-8': Buffer.concat([Buffer.from('{"v":1,"of":"'), Buffer.from([0xc3, 0x28])]).toString('base64url'),
  'a byte order mark': encoded(`\ufeff${JSON.stringify(aCursor())}`),
  'a number': encoded('1'),
  'a string': encoded('"start"'),
  'an array': encoded([aCursor()]),
  'an empty object': encoded({}),
  'no JSON': encoded('{v:1}'),
  'two values': encoded(`${JSON.stringify(aCursor())}{}`),
  'a version of the future': encoded({ ...aCursor(), v: 2 }),
  'a version as text': encoded({ ...aCursor(), v: '1' }),
  'an extra member': encoded({ ...aCursor(), admin: true }),
  'an extra member of the position': encoded({ ...aCursor(), position: { at: LATER, id: UUID } }),
  'an extra member of the commit': encoded({ ...aCursor(), seen: { at: LATER, commit: UUID, x: 1 } }),
  __proto__: encoded(JSON.stringify(aCursor()).replace('{', '{"__proto__":{"of":"administrator"},')),
  constructor: encoded({ ...aCursor(), constructor: {} }),
  'no version': encoded(without('v')),
  'no caller': encoded(without('of')),
  'no commit': encoded(without('seen')),
  'no position': encoded(without('position')),
  'no checked': encoded(without('checked')),
  'a caller that is none': encoded({ ...aCursor(), of: null }),
  callers: encoded({ ...aCursor(), of: ['anonymous', 'administrator'] }),
  'a long caller': encoded({ ...aCursor(), of: 'x'.repeat(65) }),
  'a commit that is no UUID': encoded({ ...aCursor(), seen: { at: LATER, commit: "' OR true --" } }),
  'a commit that is a number': encoded({ ...aCursor(), seen: { at: LATER, commit: 1 } }),
  'a moment that is a number': encoded({ ...aCursor(), checked: LATER.getTime() }),
  'a moment without zone': encoded({ ...aCursor(), checked: '2026-01-02T03:04:05' }),
  'a moment that never was': encoded({ ...aCursor(), position: { at: '2026-02-30T00:00:00Z' } }),
  'a moment of now': encoded({ ...aCursor(), position: { at: 'now' } }),
  'a moment of infinity': encoded({ ...aCursor(), position: { at: 'infinity' } }),
  'a huge year': encoded({ ...aCursor(), position: { at: '+275760-09-13T00:00:00.000Z' } }),
  'an id that is none': encoded({ ...aCursor(), position: { at: LATER, after: 'z' } }),
  'an id of null': encoded({ ...aCursor(), position: { at: LATER, after: null } }),
  'a listed id that is none': encoded({ ...aCursor(), began: LATER, listed: '' }),
  'a beginning that is none': encoded({ ...aCursor(), began: true }),
};

test.each(Object.entries(noCursors))('a cursor of %s is refused', (_, cursor) =>
  expectRefused(nobody, `?cursor=${encodeURIComponent(cursor)}`, ['cursor', 'cursor']),
);

test('a cursor that was cut is refused, wherever it was', async () => {
  const { cursor } = await updatesOf(nobody.get, 'cursor=start');
  for (let length = 0; length < cursor.length; length++) {
    await expectRefused(nobody, `?cursor=${cursor.slice(0, length)}`, ['cursor', 'cursor']);
  }
});

test('what is refused for its alphabet alone is taken in the other one', async () => {
  expect(inStandardAlphabet(ODD)).toContain('/');
  expect(await updatesOf(nobody.get, `cursor=${writeCursor(ODD)}`)).toMatchObject({ reset: true, has_more: false });
});
