import { connectionsBlocked, eventually } from '@svc/testing';
// Unusual requests at the HTTP level, in addition to the cases of ../audit.test.ts.
import { requestText } from '../raw.ts';
import type { TestToken } from '../world.ts';
import { bearer, startWireWorld } from './world.ts';

const { world, fleet, client, entriesOf } = await startWireWorld();

const USERS = '/api/v1/users';
const TEMPLATES = '/api/v1/catalog/templates';

test.each([
  ['without a Host header', `GET ${TEMPLATES}`, (text: string) => text.replace('Host: fleet.test\r\n', ''), 400],
  ['with an unknown Expect header', `GET ${TEMPLATES}`, (text: string) => withHeader(text, 'Expect: a miracle'), 200],
  [
    'with an Upgrade header',
    `GET ${TEMPLATES}`,
    (text: string) => withHeader(text, 'Upgrade: h2c', 'Connection: upgrade'),
    200,
  ],
  ['with NUL in the path', `GET ${TEMPLATES}/%00`, (text: string) => text, 404],
  ['with a path that is not UTF-8', `GET ${TEMPLATES}/%c3%28`, (text: string) => text, 400],
  ['with a very long path', `GET ${TEMPLATES}/${'x'.repeat(8000)}`, (text: string) => text, 404],
  ['of HTTP/1.0', `GET ${TEMPLATES}`, (text: string) => text.replace('HTTP/1.1', 'HTTP/1.0'), 200],
  ['with a chunked body that is not JSON', `POST ${USERS}`, (text: string) => chunked(text, ['{"na', 'me"']), 400],
  [
    'with a body in an unsupported charset',
    `POST ${USERS}`,
    (text: string) => ofType(text, 'application/json; charset=latin1'),
    415,
  ],
  [
    'with a compressed body',
    `POST ${USERS}`,
    (text: string) => withHeader(ofType(text, 'application/json'), 'Content-Encoding: gzip'),
    415,
  ],
])('a request with a token has one audit entry: a request %s', async (_, line, change, status) => {
  const token = await world.aToken({ role: 'admin' });
  expect(await fleet.send(change(requestText(line, { headers: [bearer(token)] })))).toBe(status);
  expect(await entriesOf(token)).toMatchObject([{ status, aborted: false, path: line.split(' ')[1]?.slice(0, 1024) }]);
});

test('a response with status 304 has an audit entry with 304', async () => {
  const token = await world.aToken();
  const { headers } = await world.as(token).get(TEMPLATES);
  const again = await world.as(token).get(TEMPLATES, { 'If-None-Match': headers.etag ?? '' });
  expect(again.status).toBe(304);
  expect((await entriesOf(token)).map(({ status }) => status).sort()).toEqual([200, 304]);
});

test('pipelined requests have one audit entry each, in the order of the requests', async () => {
  const token = await world.aToken();
  const paths = ['/healthz', '/nothing', TEMPLATES, '/docs', '/api/v1/auth/me'];
  const texts = paths.map((path) => requestText(`GET ${path}`, { headers: [bearer(token)] }));
  await fleet.send(texts.map((text, index) => (index < 4 ? text.replace('Connection: close\r\n', '') : text)).join(''));
  const entries = await entriesOf(token);
  expect(entries.map(({ path, status }) => `${path} ${status}`).sort()).toEqual(
    ['/healthz 200', '/nothing 404', `${TEMPLATES} 200`, '/docs 200', '/api/v1/auth/me 200'].sort(),
  );
});

describe('after the caller closed the connection,', () => {
  /** A locked row blocks a change until the caller has disconnected and the lock is released. */
  const goneWhileItWaits = (line: string, lock: string, token: TestToken) =>
    client.$transaction(async (transaction) => {
      await transaction.$executeRawUnsafe(lock);
      const socket = await fleet.open(requestText(line, { headers: [bearer(token)] }));
      await connectionsBlocked(client, 1);
      socket.destroy();
      await fleet.deserted();
    });

  test('a change that was committed has an audit entry that is marked as aborted', async () => {
    const token = await world.aToken({ role: 'admin' });
    const victim = await world.aToken();
    const path = `/api/v1/tokens/${victim.id}`;
    await goneWhileItWaits(`DELETE ${path}`, `SELECT FROM tokens WHERE id = '${victim.id}' FOR UPDATE`, token);
    expect(await entriesWhenThere(token)).toMatchObject([{ method: 'DELETE', path, status: 200, aborted: true }]);
    expect((await client.token.findUniqueOrThrow({ where: { id: victim.id } })).revoked_at).not.toBeNull();
  });

  test('a read has an audit entry that is marked as aborted', async () => {
    const token = await world.aToken({ role: 'admin' });
    await goneWhileItWaits(`GET ${USERS}`, 'LOCK TABLE users IN ACCESS EXCLUSIVE MODE', token);
    expect(await entriesWhenThere(token)).toMatchObject([{ path: USERS, status: 200, aborted: true }]);
  });
});

const withHeader = (text: string, ...headers: readonly string[]) =>
  text.replace('\r\n', `\r\n${headers.join('\r\n')}\r\n`);
const ofType = (text: string, type: string) => `${withHeader(text, `Content-Type: ${type}`, 'Content-Length: 2')}{}`;
const chunked = (text: string, parts: readonly string[]) =>
  withHeader(text, 'Content-Type: application/json', 'Transfer-Encoding: chunked') +
  [...parts, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');

/** The entries of a request whose response nobody reads, as soon as they are stored. */
const entriesWhenThere = (token: TestToken) =>
  eventually('the request has an entry', () => entriesOf(token), { until: ({ length }) => length > 0 });
