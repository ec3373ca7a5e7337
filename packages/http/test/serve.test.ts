import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';

const FIXTURE = fileURLToPath(new URL('./fixtures/service.mjs', import.meta.url));

const children: ChildProcess[] = [];
const agents: Agent[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const agent of agents.splice(0)) agent.destroy();
});

type Entry = Readonly<Record<string, unknown>>;

/** Starts the fixture and reads its output. */
function start({ port = 0, ipc = false }: { port?: number; ipc?: boolean } = {}) {
  const child = spawn(process.execPath, [FIXTURE], {
    stdio: ['pipe', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
    env: { ...process.env, PORT: String(port) },
  });
  children.push(child);
  let out = '';
  let errors = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8');
  });
  const entries = (): Entry[] =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  let hasEnded = false;
  const ended = Promise.all([once(child, 'exit'), once(child.stdout ?? child, 'end')]).then(([[code]]) => {
    hasEnded = true;
    return code;
  });
  /** The first log line with a message. Throws if the process ends without it. */
  const entry = async (message: string): Promise<Entry> => {
    const found = entries().find((one) => one.message === message);
    if (found) return found;
    if (hasEnded || !child.stdout) throw new Error(`ended without "${message}": ${errors}`);
    await Promise.race([once(child.stdout, 'data'), ended]);
    return entry(message);
  };
  return { child, entries, entry, ended, errors: () => errors };
}

const portOf = async (service: ReturnType<typeof start>) => Number((await service.entry('listening')).port);

/** Sends a GET request on a new keep-alive connection, or on one of the agent. */
async function request(port: number, path: string, agent = anAgent()) {
  const pending = get({ host: '127.0.0.1', port, path, agent });
  const [response] = (await once(pending, 'response')) as [IncomingMessage]; // as documented for the event
  let body = '';
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, connection: response.headers.connection, body, socket: pending.socket };
}

function anAgent(): Agent {
  const agent = new Agent({ keepAlive: true });
  agents.push(agent);
  return agent;
}

test('a port in use is reported to the operator, and the process exits with 1', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const service = start({ port });
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
