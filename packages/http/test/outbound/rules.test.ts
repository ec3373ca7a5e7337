import { Socket } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { type OutboundAllowance, OutboundRefused } from '../../src/index.ts';
import { anOutbound, connectingTo, endAll, reasonOf, startListener, startTarget } from './world.ts';

afterEach(endAll);

const restricted = (...words: readonly OutboundAllowance[]) => anOutbound({ restrictTo: new Set(words) });

/** What `OUTBOUND_ALLOW` would have to contain to allow a target; `called` if it is allowed. */
const neededFor = (sending: Promise<unknown>): Promise<readonly OutboundAllowance[] | 'called'> =>
  sending.then(
    () => 'called',
    (error: unknown) => (error instanceof OutboundRefused ? error.needs : 'called'),
  );

describe('without restrictions a target', () => {
  test.each(['127.0.0.1', 'localhost'])('on %s can be called, also without TLS', async (host) => {
    const target = await startTarget((_req, res) => res.end());
    expect((await anOutbound()(target.url.replace('127.0.0.1', host))).status).toBe(200);
  });
});

describe('a restricted outbound', () => {
  test.each([
    ['http://example.com/', ['http']],
    ['https://127.0.0.1/', ['loopback']],
    ['http://127.0.0.1/', ['http', 'loopback']],
    ['http://2130706433/', ['http', 'loopback']],
    ['https://[::1]/', ['loopback']],
    ['https://[::]/', ['loopback']],
    ['https://0.0.0.0/', ['loopback']],
    ['https://[::ffff:127.0.0.1]/', ['loopback']],
    ['https://10.0.0.1/', ['private']],
    ['https://100.64.0.1/', ['private']],
    ['https://[fc00::1]/', ['private']],
    ['https://[::ffff:192.168.0.1]/', ['private']],
    ['https://[64:ff9b::10.0.0.1]/', ['private']],
    ['https://240.0.0.1/', ['private']],
    ['https://169.254.169.254/', []],
  ])('rejects %s without a connection', async (url, needs) => {
    const connected = jest.spyOn(Socket.prototype, 'connect');
    expect(await neededFor(restricted()(url))).toEqual(needs);
    expect(connected).not.toHaveBeenCalled();
  });

  test('states how an operator can allow the target', async () => {
    expect(await reasonOf(restricted()('http://10.0.0.1/'))).toBe(
      'OutboundRefused: The target is called without TLS. The address of the target is not public. ' +
        'Only https to public addresses is allowed. To allow this target, add http and private to OUTBOUND_ALLOW.',
    );
  });

  test('states only what the setting does not contain yet', async () => {
    expect(await neededFor(restricted('http')('http://127.0.0.1/'))).toEqual(['loopback']);
    expect(await neededFor(restricted('loopback')('http://127.0.0.1/'))).toEqual(['http']);
    expect(await neededFor(restricted('private')('https://127.0.0.1/'))).toEqual(['loopback']);
    expect(await neededFor(restricted('loopback')('https://10.0.0.1/'))).toEqual(['private']);
  });

  test.each(['127.0.0.1', 'localhost'])('calls an allowed target on %s', async (host) => {
    const target = await startTarget((_req, res) => res.end());
    const send = restricted('http', 'loopback');
    expect((await send(target.url.replace('127.0.0.1', host))).status).toBe(200);
  });

  test('rejects link-local addresses also if everything is allowed', async () => {
    const send = restricted('http', 'loopback', 'private', 'unix');
    expect(await neededFor(send('http://169.254.169.254/'))).toEqual([]);
    expect(await neededFor(send('http://[fe80::1]/'))).toEqual([]);
  });

  test('rejects a name that resolves to this machine before connecting, with and without TLS', async () => {
    const { port, connected } = await startListener();
    expect(await neededFor(restricted()(`https://localhost:${port}/`))).toEqual(['loopback']);
    expect(await neededFor(restricted('http')(`http://localhost:${port}/`))).toEqual(['loopback']);
    expect(connected).not.toHaveBeenCalled();
    expect(await neededFor(restricted('loopback')(`https://localhost:${port}/`))).toBe('called');
    expect(connected).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['10.0.0.1', ['private']],
    ['::ffff:10.0.0.1', ['private']],
    ['64:ff9b::a9fe:a9fe', []],
  ])('rejects a connection to the remote address %s before sending the request', async (address, needs) => {
    const target = await startTarget((_req, res) => res.end());
    const send = restricted('http', 'loopback');
    connectingTo(address);
    expect(await neededFor(send(target.url.replace('127.0.0.1', 'localhost')))).toEqual(needs);
    expect(target.asked).toEqual([]);
  });
});
