import { LOGIN } from './browser.ts';
import { startSignInWorld } from './world.ts';

const world = await startSignInWorld();
const { newBrowser, backFrom, says } = world;
const sql = world.database.client;
const OWN = 'http://fleet.example.test';

/** Encoded as in the query of the request. */
const FOREIGN = [
  '//evil.example.test',
  '%2F%2Fevil.example.test',
  '/%2Fevil.example.test',
  '/%5Cevil.example.test',
  '%5C%5Cevil.example.test',
  '%5Cevil.example.test',
  '/%5C/evil.example.test',
  '/a%5C..%5C..%5C/evil.example.test',
  'https://evil.example.test',
  'https:evil.example.test',
  'https%3A%2F%2Fevil.example.test',
  'HTTPS:%2F%2Fevil.example.test/',
  'javascript:alert(1)',
  'data:text/html,evil',
  '@evil.example.test',
  '.evil.example.test',
  'evil.example.test',
  '/%09/evil.example.test',
  '/%0A/evil.example.test',
  '/%0D%0ALocation:%20https://evil.example.test',
  '%09//evil.example.test',
  '%20//evil.example.test',
  '/%00/evil.example.test',
  '/%01evil.example.test',
  '',
  'hosts',
  '?code=another',
  '#top',
];

test.each(FOREIGN)('return_to=%s is rejected, and no sign-in starts', async (returnTo) => {
  const before = await sql.signInTransaction.count();
  const { status, body, headers } = await newBrowser().get(`${LOGIN}?return_to=${returnTo}`);
  expect({ status, code: body.code, path: body.errors?.[0]?.path }).toEqual({
    status: 400,
    code: 'validation_failed',
    path: 'return_to',
  });
  expect(headers.location).toBeUndefined();
  expect(await sql.signInTransaction.count()).toBe(before);
});

const OF_THIS_ADDRESS = [
  ['/', '/'],
  ['/hosts/a%20b?page=2', '/hosts/a%20b?page=2'],
  ['/%2509/evil.example.test', '/%09/evil.example.test'],
  ['/%252Fevil.example.test', '/%2Fevil.example.test'],
  ['/.//evil.example.test', '//evil.example.test'],
  ['/..//evil.example.test', '//evil.example.test'],
  ['/a@evil.example.test', '/a@evil.example.test'],
  ['/?next=https://evil.example.test', '/?next=https://evil.example.test'],
] as const;

test.each(OF_THIS_ADDRESS)('return_to=%s is kept, and stays on this origin', async (returnTo, path) => {
  says({ role: 'viewer' });
  const browser = newBrowser();
  const begun = await browser.get(`${LOGIN}?return_to=${returnTo}`);
  const back = await browser.openCallback(backFrom(new URL(begun.headers.location ?? '')));
  const location = back.headers.location ?? '';
  expect(location.startsWith(`${OWN}/`)).toBe(true);
  const target = new URL(location);
  expect(target.origin).toBe(OWN);
  target.searchParams.delete('code');
  expect(decodeURIComponent(target.pathname + target.search)).toBe(decodeURIComponent(path));
});

test('a code in return_to is replaced by the exchange code', async () => {
  says({ role: 'viewer' });
  const browser = newBrowser();
  const back = await browser.openCallback(backFrom(await browser.begin('/?code=planted&code=twice')));
  expect(new URL(back.headers.location ?? '').searchParams.getAll('code')).toEqual([
    expect.stringMatching(/^[\w-]{43}$/),
  ]);
});
