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

/** Starts the fixture, and reads what it writes. */
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
  let isOver = false;
  const ended = Promise.all([once(child, 'exit'), once(child.stdout ?? child, 'end')]).then(([[code]]) => {
    isOver = true;
    return code;
  });
  /** The first line of the log with that message; throws when the process ends without one. */
  const entry = async (message: string): Promise<Entry> => {
    const found = entries().find((one) => one.message === message);
    if (found) return found;
    if (isOver || !child.stdout) throw new Error(`ended without "${message}": ${errors}`);
    await Promise.race([once(child.stdout, 'data'), ended]);
    return entry(message);
  };
  return { child, entries, entry, ended, errors: () => errors };
}

const portOf = async (service: ReturnType<typeof start>) => Number((await service.entry('listening')).port);

/** Asks on a keep-alive connection of its own, or of the agent that is given. */
async function ask(port: number, path: string, agent = anAgent()) {
  const pending = get({ host: '127.0.0.1', port, path, agent });
  const [answer] = (await once(pending, 'response')) as [IncomingMessage]; // what the event is documented to bring
  let body = '';
  for await (const chunk of answer) body += chunk;
  return { status: answer.statusCode, connection: answer.headers.connection, body, socket: pending.socket };
}

function anAgent(): Agent {
  const agent = new Agent({ keepAlive: true });
  agents.push(agent);
  return agent;
}

test('a port in use is reported in one sentence, and the process ends with 1', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const service = start({ port });
  expect(await service.ended).toBe(1);
  expect(service.errors()).toBe(`Port ${port} on 127.0.0.1 is in use: set PORT to a free one.\n`);
  other.close();
});

// A start is expensive, so each of these tests covers a whole life.
test('on SIGTERM a service reports that it is not ready, serves meanwhile, finishes its requests and stops once', async () => {
  const service = start();
  const port = await portOf(service);
  expect(await ask(port, '/healthz')).toMatchObject({ status: 200, connection: 'keep-alive' });
  const inFlight = ask(port, '/slow');
  await service.entry('slow has begun');

  service.child.kill('SIGTERM');
  await service.entry('stopping');
  service.child.kill('SIGINT');
  const ready = await ask(port, '/readyz');
  expect(ready).toMatchObject({ status: 503, connection: 'close' });
  expect(JSON.parse(ready.body)).toMatchObject({ checks: [{ name: 'process', detail: 'stopping' }] });
  service.child.stdin?.write('go');
  expect(await inFlight).toMatchObject({ status: 200, body: '{"done":true}' });
  expect(await service.ended).toBe(0);
  expect(service.entries().filter(({ message }) => message === 'stopping')).toHaveLength(1);
  await expect(ask(port, '/healthz')).rejects.toThrow('ECONNREFUSED');
});

test('on SIGINT a service ends idle connections at once, and closes what it holds open after its last request', async () => {
  const service = start();
  const port = await portOf(service);
  const { socket } = await ask(port, '/healthz');
  const idleClosed = socket && once(socket, 'close');
  const inFlight = ask(port, '/slow');
  await service.entry('slow has begun');

  service.child.kill('SIGINT');
  await idleClosed;
  expect(service.entries().map(({ message }) => message)).not.toContain('closed');
  service.child.stdin?.write('go');
  expect((await inFlight).connection).toBe('close');
  expect(await service.ended).toBe(0);
  const messages = service.entries().map(({ message }) => message);
  expect(messages.slice(-3)).toEqual(['request', 'closed', 'stopped']);
});

test('a service stops when its supervising process is gone', async () => {
  const service = start({ ipc: true });
  await portOf(service);
  service.child.disconnect();
  expect(await service.ended).toBe(0);
  expect(await service.entry('stopping')).toMatchObject({ reason: 'the supervising process is gone' });
});
