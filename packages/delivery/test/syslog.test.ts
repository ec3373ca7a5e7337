import fs from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { createAuthority, freePort, type Issued, startSyslogReceiver } from '@svc/testing';
import type { Receiver } from '../src/exchange.ts';
import { syslogTarget } from '../src/syslog.ts';

const folder = fs.mkdtempSync(path.join(tmpdir(), 'syslog-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));
const authority = createAuthority(folder);
const stranger = createAuthority(folder, 'stranger');
const issued = authority.issue(['localhost']);
const expired = authority.issue(['localhost'], -1);
const client = authority.issue(['client']);
const pem = (file: string) => fs.readFileSync(file, 'utf8');

type Tls = Receiver['tls'];
const trusted: Tls = { ca: pem(authority.certificate) };
const withClient = ({ certificate, key }: Issued): Tls => ({ ...trusted, cert: pem(certificate), key: pem(key) });

const targetAt = (port: number, tls = trusted, { host = 'localhost', pauseMs = 5 } = {}) =>
  targetOf(() => ({ host, port, tls, pauseMs }));
const targetOf = (receiver: () => Receiver) =>
  syslogTarget({
    receiver,
    appName: 'svc-hub',
    messageId: 'audit',
    untrusted: 'Trust its authority.',
  });
const rows = [
  { position: '1', at: new Date('2026-01-02T03:04:05.678Z'), data: { id: 1, actor: 'Zoë\n\u2028😀' } },
  { position: '2', at: new Date('2026-01-02T03:04:05.679Z'), data: { id: 2 } },
];
const send = async (target: ReturnType<typeof targetAt>, signal = AbortSignal.timeout(20_000)) =>
  target.send(rows.map(target.format), signal);
const failureOf = async (target: ReturnType<typeof targetAt>, signal?: AbortSignal): Promise<string> =>
  send(target, signal).then(
    () => 'sent',
    (error: Error) => error.message,
  );

type Options = Omit<Parameters<typeof startSyslogReceiver>[0], 'issued'> & { readonly issued?: Issued };
async function withReceiver<T>(
  options: Options,
  work: (receiver: Awaited<ReturnType<typeof startSyslogReceiver>>) => T,
) {
  const receiver = await startSyslogReceiver({ issued, ...options });
  try {
    return await work(receiver);
  } finally {
    await receiver.stop();
  }
}

test('rows arrive as messages of RFC 5424 in ASCII, in one connection with their lengths', async () => {
  await withReceiver({}, async (receiver) => {
    await send(targetAt(receiver.port));
    const head = `${hostname()} svc-hub - audit -`;
    const escaped = String.raw`{"id":1,"actor":"Zo\u00eb\n\u2028\ud83d\ude00"}`;
    expect(receiver.messages).toEqual([
      `<110>1 2026-01-02T03:04:05.678Z ${head} ${escaped}`,
      `<110>1 2026-01-02T03:04:05.679Z ${head} {"id":2}`,
    ]);
    expect(JSON.parse(escaped)).toEqual(rows[0]?.data);
    expect(receiver.batches.map(({ messages }) => messages)).toEqual([2]);
  });
});

test('a receiver that requires a client certificate receives rows with it', async () => {
  await withReceiver({ clientAuthority: authority.certificate }, async (receiver) => {
    await send(targetAt(receiver.port, withClient(client)));
    expect(receiver.messages).toHaveLength(2);
  });
});

test('a client certificate that was replaced is used from the next batch', async () => {
  await withReceiver({ clientAuthority: authority.certificate }, async ({ port, messages }) => {
    let tls = withClient(client);
    let pauseMs = 1;
    const target = targetOf(() => ({ host: 'localhost', port, tls, pauseMs }));
    expect(await failureOf(target)).toBe('sent');
    tls = trusted;
    pauseMs = 1000; // the refusal arrives after the handshake
    expect(await failureOf(target)).toMatch('It requires a client certificate.');
    tls = withClient(authority.issue(['other client']));
    pauseMs = 1;
    expect(await failureOf(target)).toBe('sent');
    expect(messages).toHaveLength(4);
  });
});

const ENDED =
  'The syslog receiver ended the connection before it confirmed what it had received. It has stopped, or does not accept this client.';

test('rows are not confirmed by a receiver that reads them, and is killed before it answers the end', async () => {
  let connections = 0;
  await withReceiver(
    {
      onConnection: (socket) => {
        connections += 1;
        const isFirst = connections === 1;
        socket.resume().on('end', () => isFirst || socket.destroy());
      },
    },
    async ({ port }) => {
      expect(await failureOf(targetAt(port))).toBe(ENDED);
      expect(connections).toBe(2); // without rows, and with them
    },
  );
});

test('rows are confirmed by a receiver that never answers the end of connections when it closes the socket', async () => {
  await withReceiver(
    { onConnection: (socket) => void socket.resume().on('end', () => socket.destroy()) },
    async ({ port }) => {
      expect(await failureOf(targetAt(port))).toBe('sent');
    },
  );
});

test('rows are not confirmed by a receiver that ends connections by itself', async () => {
  await withReceiver({ onConnection: (socket) => void socket.end() }, async ({ port }) => {
    expect(await failureOf(targetAt(port, trusted, { pauseMs: 1000 }))).toBe(ENDED);
  });
});

test('sending to a receiver that does not read ends with the signal', async () => {
  await withReceiver({ onConnection: (socket) => void socket.pause() }, async ({ port }) => {
    expect(await failureOf(targetAt(port), AbortSignal.timeout(50))).toBe(
      'The syslog receiver does not respond in time.',
    );
  });
});

const TLS_FAILED = 'The TLS connection to the syslog receiver cannot be established.';

test.each<[string, Options, Tls | undefined, string, string | undefined]>([
  [
    'is of an unknown authority',
    {},
    { ca: pem(stranger.certificate) },
    `${TLS_FAILED} Trust its authority.`,
    undefined,
  ],
  ['has expired', { issued: expired }, undefined, `${TLS_FAILED} Its certificate has expired.`, undefined],
  ['is for another host', {}, undefined, `${TLS_FAILED} Its certificate is for another host name.`, '127.0.0.1'],
])('a failure names the cause if the certificate of the receiver %s', async (_, options, tls, message, host) => {
  await withReceiver(options, async ({ port, messages }) => {
    expect(await failureOf(targetAt(port, tls, { host }))).toBe(message);
    expect(messages).toEqual([]);
  });
});

test('a failure names the cause if the receiver requires a client certificate, or is not there', async () => {
  await withReceiver({ clientAuthority: authority.certificate }, async ({ port, messages }) => {
    const ofStranger = withClient(stranger.issue(['client']));
    const patient = { pauseMs: 1000 }; // the receiver refuses after the handshake of the client
    expect(await failureOf(targetAt(port, trusted, patient))).toBe(`${TLS_FAILED} It requires a client certificate.`);
    expect(await failureOf(targetAt(port, ofStranger, patient))).toBe(ENDED);
    expect(messages).toEqual([]);
  });
  expect(await failureOf(targetAt(await freePort()))).toBe(
    'The syslog receiver does not respond (ECONNREFUSED). The connection to its address was refused.',
  );
});
