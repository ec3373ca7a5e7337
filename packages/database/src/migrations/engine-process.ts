import { fork } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export type EngineRequest = { kind: 'apply' | 'compare'; prismaDir: string; databaseUrl: string };
export type EngineAnswer =
  | { kind: 'applied'; names: string[] }
  | { kind: 'compared'; sql: string }
  | { kind: 'failed'; reason: string };

// Node runs what was built, also when a test runs this file from its source.
const child = fileURLToPath(new URL('../../dist/migrations/child.js', import.meta.url));

/** Runs the schema engine once in a process of its own, which ends with this one. */
export async function askEngine(request: EngineRequest): Promise<EngineAnswer> {
  const engine = fork(child, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const answer = await new Promise<EngineAnswer>((resolve, reject) => {
    engine.once('message', (message) => resolve(message as EngineAnswer)); // child.ts sends nothing else
    engine.once('error', reject);
    engine.once('exit', (code, signal) => {
      reject(
        new Error(`The process that migrates ended with ${signal ?? code}: look at what it wrote, and try again.`),
      );
    });
    // By message rather than by argument or environment: the address holds a password.
    engine.send({ ...request, prismaDir: path.resolve(request.prismaDir) }, (error) => error && reject(error));
  });
  return answer;
}
