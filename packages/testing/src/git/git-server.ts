import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { runProgram } from '../engine/program.ts';
import { onLoopback } from '../servers/loopback.ts';
import { type GitCommit, scriptOf } from './fast-import.ts';
import { gitPrograms } from './programs.ts';

/** What happens to a response instead of its complete transmission. */
export type GitFault =
  /** Another response, such as an error or a redirect. */
  | { readonly kind: 'response'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** The connection is closed after this number of bytes of the body, although more were announced. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The body ends after this number of bytes, as if it was complete. */
  | { readonly kind: 'short'; readonly bytes: number }
  /** Another body, with the status and the content type of the response. */
  | { readonly kind: 'body'; readonly body: Uint8Array }
  /** The body never ends. */
  | { readonly kind: 'endless' }
  /** A byte of the body every 5 ms. */
  | { readonly kind: 'slow' };

interface GitServerOptions {
  /** Required as the password of requests. Default: everybody can read. */
  readonly token?: string;
  /** Whether packs can be filtered. Default: true. */
  readonly allowFilter?: boolean;
  /** The format of ids. Default: sha1. */
  readonly format?: 'sha1' | 'sha256';
}

/** A repository without a working tree that `git http-backend` serves on a loopback address. Clients can push. */
export interface GitServer {
  /** The URL of the repository. */
  readonly url: string;
  /** The method, the path with the query, and the user of each request. */
  readonly requests: readonly { readonly method: string; readonly path: string; readonly user: string | undefined }[];
  /** Can be changed at any time. */
  readonly settings: { token: string | undefined; allowFilter: boolean };
  /** Creates commits with one process, in the given order. @returns their ids */
  commit(...commits: readonly GitCommit[]): Promise<string[]>;
  /** Runs git in the repository. @returns its output */
  git(...args: readonly string[]): Promise<string>;
  /** All responses have this fault until it is replaced. @param skip the number of responses before it that have none */
  failWith(fault: GitFault | undefined, skip?: number): void;
  /** Ends the server and deletes the repository. */
  stop(): Promise<void>;
}

const REPOSITORY = 'repository.git';
const FIRST_TIME = 1_700_000_000;

/** Starts a server with an empty repository. */
export async function aGitServer({
  token,
  allowFilter = true,
  format = 'sha1',
}: GitServerOptions = {}): Promise<GitServer> {
  const programs = gitPrograms();
  if (!programs) throw new Error('git with git-http-backend is not installed');
  const root = mkdtempSync(path.join(tmpdir(), 'git-server-'));
  const folder = path.join(root, REPOSITORY);
  const settings: GitServer['settings'] = { token, allowFilter };
  const requests: GitServer['requests'][number][] = [];
  const heads = new Map<string, string>();
  let time = FIRST_TIME;
  let failing: { readonly fault: GitFault | undefined; skip: number } = { fault: undefined, skip: 0 };

  /** Without the settings of this machine. */
  const environment = () => ({
    PATH: process.env.PATH,
    HOME: root,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '3',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
    GIT_CONFIG_KEY_1: 'uploadpack.allowFilter',
    GIT_CONFIG_VALUE_1: String(settings.allowFilter),
    GIT_CONFIG_KEY_2: 'http.receivepack',
    GIT_CONFIG_VALUE_2: 'true',
  });
  /** Runs a program with an input. @returns its output */
  const piped = async (file: string, args: readonly string[], env: NodeJS.ProcessEnv, input: Buffer) => {
    const child = spawn(file, [...args], { cwd: root, env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.on('error', () => undefined).end(input); // a program can end before it reads everything
    const [output, errors] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
    return { output, errors: errors.toString('utf8') };
  };
  const git = (...args: readonly string[]) =>
    runProgram(programs.git, args, { cwd: root, env: { ...environment(), GIT_DIR: folder } });

  const backend = async (req: IncomingMessage): Promise<GitResponse> => {
    const { pathname, search } = new URL(req.url ?? '/', 'http://localhost');
    const body = await buffer(req);
    const env = {
      ...environment(),
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: header(req, 'git-protocol'),
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: req.method,
      CONTENT_TYPE: header(req, 'content-type'),
      CONTENT_LENGTH: String(body.length),
      HTTP_CONTENT_ENCODING: header(req, 'content-encoding'),
    };
    const { output, errors } = await piped(programs.backend, [], env, body);
    return responseIn(output, errors);
  };

  const server = await onLoopback(async (req, res) => {
    const [user, ...password] = credentialsOf(req);
    requests.push({ method: req.method ?? '', path: req.url ?? '', user });
    const fault = failing.skip > 0 ? undefined : failing.fault;
    failing.skip -= 1;
    if (settings.token !== undefined && password.join(':') !== settings.token) {
      req.resume();
      res.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
    } else respond(res, await backend(req), fault);
  });
  await git('init', '--quiet', '--bare', '--initial-branch=main', `--object-format=${format}`, folder);

  return {
    url: `${server.url}/${REPOSITORY}`,
    requests,
    settings,
    commit: async (...commits) => {
      const script = scriptOf(
        commits,
        (branch) => heads.get(branch),
        () => {
          time += 1;
          return time;
        },
      );
      const args = ['fast-import', '--quiet', '--force', '--date-format=raw'];
      const { output, errors } = await piped(programs.git, args, { ...environment(), GIT_DIR: folder }, script.input);
      const ids = output.toString('latin1').trim().split('\n');
      if (ids.length !== commits.length || errors !== '') throw new Error(`git fast-import: ${errors}`);
      for (const [branch, index] of script.heads) heads.set(branch, ids[index] ?? '');
      return ids;
    },
    git,
    failWith: (fault, skip = 0) => {
      failing = { fault, skip };
    },
    stop: async () => {
      await server.stopListening();
      rmSync(root, { recursive: true });
    },
  };
}

const header = (req: IncomingMessage, name: string) => String(req.headers[name] ?? '');

/** The user and the parts of the password of a request with `Authorization: Basic`. */
function credentialsOf(req: IncomingMessage): readonly string[] {
  const [scheme, credentials = ''] = header(req, 'authorization').split(' ');
  return scheme === 'Basic' ? Buffer.from(credentials, 'base64').toString('utf8').split(':') : [];
}

interface GitResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The response of a CGI program (RFC 3875, section 6). */
function responseIn(output: Buffer, errors: string): GitResponse {
  const end = output.indexOf('\r\n\r\n');
  if (end < 0) return { status: 500, headers: {}, body: Buffer.from(errors) };
  const lines = output.toString('latin1', 0, end).split('\r\n');
  const { Status: status = '200', ...headers } = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(status.slice(0, 3)), headers, body: output.subarray(end + 4) };
}

const CHUNK = Buffer.alloc(65_536, '0');
const SLOW_MS = 5;

/** Sends a response, or what a fault makes of it. */
function respond(res: ServerResponse, { status, headers, body }: GitResponse, fault: GitFault | undefined): void {
  if (fault?.kind === 'response') {
    res.writeHead(fault.status, fault.headers).end();
    return;
  }
  if (fault?.kind === 'cut') {
    res.writeHead(status, { ...headers, 'Content-Length': String(body.length + 1) });
    res.write(body.subarray(0, fault.afterBytes), () => res.destroy());
    return;
  }
  res.writeHead(status, headers);
  if (fault?.kind === 'endless') {
    const more = () => {
      while (!res.destroyed && res.write(CHUNK));
    };
    res.on('drain', more);
    more();
  } else if (fault?.kind === 'slow') {
    let at = 0;
    const timer = setInterval(() => {
      if (at < body.length) res.write(body.subarray(at, at + 1));
      else res.end();
      at += 1;
    }, SLOW_MS);
    res.on('close', () => clearInterval(timer));
  } else if (fault?.kind === 'short') res.end(body.subarray(0, fault.bytes));
  else res.end(fault?.kind === 'body' ? fault.body : body);
}
