import { Socket } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { createOutbound, type OutboundOptions } from '../../src/index.ts';
import { anOutbound, connectingTo, endAll, reasonOf, startTarget, TOKEN } from './world.ts';

afterEach(endAll);

test('a request is sent, and its complete response is read', async () => {
  const target = await startTarget((_req, res) => {
    res.writeHead(201, { 'X-One': 'a', 'Set-Cookie': ['a=1', 'b=2'] }).end('é');
  });
  const response = await anOutbound()(`${target.url}/x?y=1`, { method: 'POST', body: '{}' });
  expect(target.asked).toEqual([{ method: 'POST', url: '/x?y=1', body: '{}' }]);
  expect(response).toMatchObject({ status: 201, body: 'é', headers: { 'x-one': 'a', 'set-cookie': 'a=1, b=2' } });
});

describe('a request with bytes', () => {
  const bytes = Buffer.from([0, 0xff, 0xfe, 0x80, 0xef, 0xbb, 0xbf]);

  test('is sent, and the bytes of its response are read', async () => {
    const received: Buffer[] = [];
    const target = await startTarget(
      (_req, res) => res.end(bytes),
      (chunk) => received.push(chunk),
    );
    const outbound = createOutbound({ timeoutMs: 5000, maxBytes: bytes.length });
    const url = new URL(target.url);
    const response = await outbound.sendBytes({ method: 'POST', url, headers: {}, body: bytes });
    expect(Buffer.concat(received)).toEqual(bytes);
    expect({ ...response, body: Buffer.from(response.body) }).toMatchObject({ status: 200, body: bytes });
    expect((await outbound.sendBytes({ method: 'GET', url, headers: {} })).body).toHaveLength(bytes.length);
    await outbound.close();
  });

  test('is rejected if its response is larger than the maximum size, or its target is not allowed', async () => {
    const target = await startTarget((_req, res) => res.end(bytes));
    const send = async (options: Partial<OutboundOptions>) => {
      const outbound = createOutbound({ timeoutMs: 5000, maxBytes: bytes.length - 1, ...options });
      const reason = await reasonOf(outbound.sendBytes({ method: 'GET', url: new URL(target.url), headers: {} }));
      await outbound.close();
      return reason;
    };
    expect(await send({})).toMatch(/exceeded max size/i);
    expect(await send({ restrictTo: new Set() })).toMatch(/^OutboundRefused: The target is called without TLS/);
  });
});

test.each([301, 302, 303, 307, 308])('a redirect (%p) is returned and not followed', async (status) => {
  const other = await startTarget((_req, res) => res.end('other'));
  const target = await startTarget((_req, res) => res.writeHead(status, { Location: other.url }).end());
  const response = await anOutbound()(target.url);
  expect(response).toMatchObject({ status, headers: { location: other.url } });
  expect(other.asked).toEqual([]);
});

describe('a response', () => {
  test('can have the maximum size', async () => {
    const target = await startTarget((_req, res) => res.end('x'.repeat(1000)));
    expect((await anOutbound()(target.url)).body).toHaveLength(1000);
  });

  test('with a Content-Length above the maximum size is rejected', async () => {
    const target = await startTarget((_req, res) => res.end('x'.repeat(1001)));
    expect(await reasonOf(anOutbound()(target.url))).toMatch(/exceeded max size/i);
  });

  test('without an end is rejected at the maximum size', async () => {
    const target = await startTarget((_req, res) => {
      const more = setInterval(() => res.write('x'.repeat(400)), 1);
      res.once('close', () => clearInterval(more));
    });
    expect(await reasonOf(anOutbound()(target.url))).toMatch(/exceeded max size/i);
  });

  test('that is truncated is rejected', async () => {
    const target = await startTarget((_req, res) => {
      res.writeHead(200, { 'Content-Length': '100' });
      res.write('half', () => res.destroy());
    });
    expect(await reasonOf(anOutbound()(target.url))).not.toBe('none');
  });

  test('that does not start is rejected after the time limit', async () => {
    const target = await startTarget(() => undefined);
    expect(await reasonOf(anOutbound({ timeoutMs: 50 })(target.url))).toMatch(/timeout/i);
  });

  test('that stalls is rejected after the time limit', async () => {
    const target = await startTarget((_req, res) => {
      res.writeHead(200);
      res.write('x');
    });
    expect(await reasonOf(anOutbound({ timeoutMs: 50 })(target.url))).toMatch(/timeout/i);
  });

  test('that arrives slowly is rejected after the time limit for the whole exchange', async () => {
    const target = await startTarget((_req, res) => {
      const more = setInterval(() => res.write('x'), 5);
      res.once('close', () => clearInterval(more));
    });
    expect(await reasonOf(anOutbound({ timeoutMs: 100 })(target.url))).toMatch(/timeout/i);
  });
});

describe('a link-local or metadata address', () => {
  const REFUSED =
    'OutboundRefused: The address is link-local or a metadata service. Connections to such addresses are not allowed.';

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'https://169.254.169.254/',
    'http://169.254.0.1:8080/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://100.100.100.200/',
    'http://[fe80::1]/',
    'http://[febf::1]/',
    'http://[fd00:ec2::254]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[64:ff9b:1::169.254.169.254]/',
    'http://[2002:a9fe:a9fe::]/',
  ])('%s is rejected without a connection', async (url) => {
    const connected = jest.spyOn(Socket.prototype, 'connect');
    expect(await reasonOf(anOutbound()(url))).toBe(REFUSED);
    expect(connected).not.toHaveBeenCalled();
  });

  test.each(['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1', 'fd00:ec2::254'])(
    'is rejected if it is the remote address of the socket (%s), before the request is sent',
    async (address) => {
      const target = await startTarget((_req, res) => res.end());
      connectingTo(address);
      expect(await reasonOf(anOutbound()(target.url.replace('127.0.0.1', 'localhost')))).toBe(REFUSED);
      expect(target.asked).toEqual([]);
    },
  );

  test.each(['169.253.255.255', '169.255.0.0', '100.100.100.201', 'fec0::1', '10.0.0.1'])(
    'does not include the adjacent address %s',
    async (address) => {
      const target = await startTarget((_req, res) => res.end());
      connectingTo(address);
      expect((await anOutbound()(target.url)).status).toBe(200);
    },
  );
});

test('errors do not contain the token', async () => {
  const target = await startTarget((_req, res) => res.destroy());
  const outbound = anOutbound({ timeoutMs: 50 });
  const reasons = [
    await reasonOf(outbound(target.url)),
    await reasonOf(outbound(target.url, { headers: { authorization: `Bearer ${TOKEN}\n` } })),
    await reasonOf(outbound('http://169.254.169.254/')),
  ];
  expect(reasons).toEqual([
    expect.stringMatching(/other side closed/),
    expect.stringMatching(/invalid authorization header/),
    expect.stringMatching(/link-local/),
  ]);
  expect(reasons.join()).not.toContain(TOKEN);
});

test('a closed outbound rejects requests', async () => {
  const target = await startTarget((_req, res) => res.end());
  const { send, close } = createOutbound({ timeoutMs: 1000, maxBytes: 1000 });
  await close();
  await expect(send({ method: 'GET', url: new URL(target.url), headers: {} })).rejects.toThrow();
  expect(target.asked).toEqual([]);
});
