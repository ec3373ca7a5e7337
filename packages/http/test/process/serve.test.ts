import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { endFixtures, portOf, request, start } from '../fixture-process.ts';

afterEach(endFixtures);

test('a port in use is reported to the operator, and the process exits with 1', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const service = start({ environment: { PORT: String(port) } });
  expect(await service.ended).toBe(1);
  expect(service.errors()).toBe(`Port ${port} on 127.0.0.1 is in use. Set PORT to a free port.\n`);
  other.close();
});

// Starting a process is slow, so each of these tests covers a complete shutdown.
test('on SIGTERM a service becomes unready, serves further requests, completes requests in flight and stops once', async () => {
  const service = start();
  const port = await portOf(service);
  expect(await request(port, '/healthz')).toMatchObject({ status: 200, connection: 'keep-alive' });
  const inFlight = request(port, '/slow');
  await service.entry('slow started');

  service.child.kill('SIGTERM');
  await service.entry('stopping');
  service.child.kill('SIGINT');
  const ready = await request(port, '/readyz');
  expect(ready).toMatchObject({ status: 503, connection: 'close' });
  expect(JSON.parse(ready.body)).toMatchObject({ checks: [{ name: 'process', detail: 'stopping' }] });
  service.child.stdin?.write('go');
  expect(await inFlight).toMatchObject({ status: 200, body: '{"done":true}' });
  expect(await service.ended).toBe(0);
  expect(service.entries().filter(({ message }) => message === 'stopping')).toHaveLength(1);
  await expect(request(port, '/healthz')).rejects.toThrow('ECONNREFUSED');
});

test('on SIGINT a service closes idle connections at once, and releases its resources after the last request', async () => {
  const service = start();
  const port = await portOf(service);
  const { socket } = await request(port, '/healthz');
  const idleClosed = socket && once(socket, 'close');
  const inFlight = request(port, '/slow');
  await service.entry('slow started');

  service.child.kill('SIGINT');
  await idleClosed;
  expect(service.entries().map(({ message }) => message)).not.toContain('closed');
  service.child.stdin?.write('go');
  expect((await inFlight).connection).toBe('close');
  expect(await service.ended).toBe(0);
  const messages = service.entries().map(({ message }) => message);
  expect(messages.slice(-3)).toEqual(['request', 'closed', 'stopped']);
});

test('a service stops when its parent process has exited', async () => {
  const service = start({ ipc: true });
  await portOf(service);
  service.child.disconnect();
  expect(await service.ended).toBe(0);
  expect(await service.entry('stopping')).toMatchObject({ reason: 'the parent process has exited' });
});

test('a service closes the connection of a client that does not read its responses', async () => {
  const service = start({ environment: { STALL_MS: '300' } });
  const port = await portOf(service);
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  // More than the system buffers.
  client.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
  expect(await service.entry('connection closed, because the client does not read')).toMatchObject({
    level: 40,
    reason: 'no_progress',
    unsent_bytes: expect.any(Number),
  });
  expect((await request(port, '/metrics')).body).toContain('http_connections_closed_total{reason="no_progress"} 1');
  client.destroy();
});
