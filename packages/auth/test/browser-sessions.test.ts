import { createBrowserSessions } from '../src/index.ts';

const PUBLIC_URL = 'https://fleet.example.test';
const sessions = createBrowserSessions('fleet', PUBLIC_URL);

/** The header that a browser sends after `Set-Cookie`. */
const cookieFor = (publicUrl = PUBLIC_URL, service = 'fleet') =>
  createBrowserSessions(service, publicUrl).cookieOf('the-reference').split(';')[0] ?? '';

const aRequest = ({ method = 'GET', url = '/api/v1/hosts', ...headers }: Readonly<Record<string, string>> = {}) => ({
  method,
  url,
  headers: { cookie: cookieFor(), 'sec-fetch-site': 'same-origin', ...headers },
});

const codeOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

test('a request of a page of the service has its reference', () => {
  expect(sessions.read(aRequest())).toBe('the-reference');
  expect(sessions.read(aRequest({ method: 'POST', origin: PUBLIC_URL }))).toBe('the-reference');
  expect(sessions.read(aRequest({ cookie: `a=b; ${cookieFor()}; c=d` }))).toBe('the-reference');
});

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another origin of the site', { 'sec-fetch-site': 'same-site' }],
  ['a typed address', { 'sec-fetch-site': 'none' }],
  ['a page that claims two things', { 'sec-fetch-site': 'same-origin, cross-site' }],
  ['a path outside the API', { url: '/mcp' }],
  ['a path that begins like the API', { url: '/api/v10/hosts' }],
  ['a fleet at another URL', { cookie: cookieFor('https://other.example.test') }],
  ['a fleet at another port', { cookie: cookieFor('https://fleet.example.test:8443') }],
  ['the hub', { cookie: cookieFor(PUBLIC_URL, 'hub') }],
  ['no cookie', { cookie: '' }],
])('a request of %s has no reference', (_, given) => {
  expect(sessions.read(aRequest(given))).toBeUndefined();
});

test('a program that sends no Sec-Fetch-Site has no reference', () => {
  const { 'sec-fetch-site': _, ...headers } = aRequest().headers;
  expect(sessions.read({ ...aRequest(), headers })).toBeUndefined();
});

test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('a %s requires the origin of the service', (method) => {
  for (const origin of ['https://evil.example.test', 'http://fleet.example.test', 'null', '']) {
    expect(codeOf(() => sessions.read(aRequest({ method, origin })))).toBe('wrong_origin');
  }
  expect(codeOf(() => sessions.read(aRequest({ method })))).toBe('wrong_origin');
});

test('with https, only the host itself can set the cookie, and only by https', () => {
  const [pair = '', ...attributes] = sessions.cookieOf('x').split('; ');
  expect(pair).toMatch(/^__Host-fleet-session-[0-9a-f]{8}=x$/);
  expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Strict', 'Secure']);
  expect(sessions.noCookie).toMatch(/^__Host-fleet-session-[0-9a-f]{8}=; Max-Age=0;/);
});

test.each(['http://localhost:4200', 'http://127.0.0.1:4200', 'http://[::1]:4200', 'http://fleet.localhost'])(
  'at %s, the cookie needs no https',
  (publicUrl) => {
    const local = createBrowserSessions('fleet', publicUrl);
    expect(local.refusal).toBeUndefined();
    expect(local.cookieOf('x')).toMatch(/^fleet-session-[0-9a-f]{8}=x;/);
    expect(local.cookieOf('x')).not.toContain('Secure');
    expect(local.read(aRequest({ cookie: cookieFor(publicUrl) }))).toBe('the-reference');
  },
);

test.each([
  ['http://fleet.example.test', 'https'],
  ['http://10.0.0.1', 'https'],
  ['http://127.0.0.1.example.test', 'https'],
  ['http://notlocalhost', 'https'],
  [undefined, 'PUBLIC_URL'],
])('at %s, browsers have no sessions, and the reason names %s', (publicUrl, named) => {
  const none = createBrowserSessions('fleet', publicUrl);
  expect(none.refusal).toContain(named);
  expect(none.read(aRequest({ cookie: none.cookieOf('x') }))).toBeUndefined();
  expect(codeOf(none.requireAvailable)).toBe('browser_session_unavailable');
  expect(codeOf(() => none.requireConsole(aRequest()))).toBe('browser_session_unavailable');
});

test('only the console can open a session', () => {
  expect(codeOf(() => sessions.requireConsole(aRequest({ method: 'POST', origin: PUBLIC_URL })))).toBeUndefined();
  for (const given of [
    { origin: PUBLIC_URL, 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example.test' },
  ]) {
    expect(codeOf(() => sessions.requireConsole(aRequest({ method: 'POST', ...given })))).toBe('wrong_origin');
  }
});
