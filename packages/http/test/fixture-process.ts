import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';

const children: ChildProcess[] = [];
const agents: Agent[] = [];

/** For afterEach: ends all processes and connections that the test started. */
export function endFixtures(): void {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    child.stdout?.destroy(); // output that a test has not read
  }
  for (const agent of agents.splice(0)) agent.destroy();
}

type Entry = Readonly<Record<string, unknown>>;

/** What a test can change. */
interface FixtureOptions {
  readonly file?: 'service.mjs' | 'command.mjs';
  readonly ipc?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a fixture and reads its output. */
export function start({ file = 'service.mjs', ipc = false, environment = {} }: FixtureOptions = {}) {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`./fixtures/${file}`, import.meta.url))], {
    stdio: ['pipe', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
    env: { ...process.env, PORT: '0', ...environment },
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

export const portOf = async (service: ReturnType<typeof start>) => Number((await service.entry('listening')).port);

/** Sends a GET request on a new keep-alive connection, or on one of the agent. */
export async function request(port: number, path: string, agent = anAgent()) {
  const pending = get({ host: '127.0.0.1', port, path, agent });
  // As documented for the event.
  const [response] = (await once(pending, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, connection: response.headers.connection, body, socket: pending.socket };
}

export function anAgent(): Agent {
  const agent = new Agent({ keepAlive: true });
  agents.push(agent);
  return agent;
}
