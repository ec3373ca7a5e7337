import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { jest } from '@jest/globals';
import { run } from '../src/program.ts';

/** What a run of the client leaves. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Given {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  /** Is called with the text of stderr so far when something was written there. */
  readonly onStderr?: (text: string) => void;
}

/** A folder for the files of the user, which is deleted after the tests. */
export const home = mkdtempSync(path.join(tmpdir(), 'svc-'));
afterAll(() => rmSync(home, { recursive: true }));

/** Runs a command line without a terminal, with the files of `home`. */
export async function svc(args: readonly string[], { env = {}, stdin = '', onStderr }: Given = {}): Promise<Ran> {
  const before = { ...process.env };
  const input = process.stdin;
  const output = { stdout: '', stderr: '' };
  const capture = (name: 'stdout' | 'stderr') =>
    jest.spyOn(process[name], 'write').mockImplementation((text) => {
      output[name] += String(text);
      if (name === 'stderr') onStderr?.(output.stderr);
      return true;
    });
  const spies = [capture('stdout'), capture('stderr')];
  process.env = { ...before, XDG_CONFIG_HOME: home, SVC_URL: '', SVC_TOKEN: '', ...env };
  Object.defineProperty(process, 'stdin', { value: Readable.from([stdin]), configurable: true });
  try {
    return { code: await run(args), ...output };
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.env = before;
    Object.defineProperty(process, 'stdin', { value: input, configurable: true });
  }
}

interface Received {
  readonly request: string;
  readonly token: string | undefined;
  readonly body: unknown;
}

interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers by the start of the method and path of a request. A function gives that of one request. */
type Answers = Readonly<Record<string, Answer | (() => Answer)>>;

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: { readonly maximum?: number };
}

/** The operations of both services. */
const operations = ['fleet', 'hub'].flatMap((service) => {
  const file = path.resolve(import.meta.dirname, `../../../openapi/${service}.json`);
  const { paths }: { paths: Record<string, Record<string, { parameters?: Parameter[] }>> } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => ({
      method: method.toUpperCase(),
      pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`),
      query: parameters.filter((parameter) => parameter.in === 'query'),
    })),
  );
});

/** Why the services refuse the query of a request, according to their documents; undefined if one of them accepts it. */
function queryProblem({ method, url }: IncomingMessage): string | undefined {
  const { pathname, searchParams } = new URL(url ?? '', 'http://service');
  const problems = operations
    .filter((operation) => operation.method === method && operation.pattern.test(pathname))
    .map(({ query }) => {
      const wrong = [...searchParams].find(([name, value]) => {
        const known = query.find((parameter) => parameter.name === name);
        return known === undefined || Number(value) > (known.schema.maximum ?? Number.POSITIVE_INFINITY);
      });
      return wrong && `${wrong.join('=')} is not allowed`;
    });
  return problems.includes(undefined) ? undefined : problems[0];
}

/** A service that answers as a test states, refuses queries as the services do, and records what it received. */
export async function aService() {
  const received: Received[] = [];
  let answers: Answers = {};
  const server: Server = createServer(async (req, res) => {
    const text = await textOf(req);
    const request = `${req.method} ${req.url}`;
    received.push({
      request,
      token: req.headers.authorization?.replace('Bearer ', ''),
      body: text === '' ? undefined : JSON.parse(text),
    });
    const found = Object.entries(answers).find(([start]) => request.startsWith(start))?.[1];
    const answer = typeof found === 'function' ? found() : found;
    const problem = queryProblem(req);
    const {
      status = 200,
      body,
      headers = {},
    } = problem === undefined
      ? (answer ?? { status: 404, body: { detail: `nothing at ${request}` } })
      : { status: 400, body: { detail: problem } };
    res.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close', ...headers });
    res.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    requests: () => received.map(({ request }) => request),
    /** Answers requests by the start of their method and path, in the order of the members. */
    answer: (given: Answers) => {
      answers = given;
      received.length = 0;
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

async function textOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
