import { fork } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DiagnoseMigrationHistoryOutput } from '@prisma/schema-engine-wasm';

/** `diagnose` compares the history of migrations with the files, as `prisma migrate status` does. */
export type EngineRequest = { kind: 'compare' | 'diagnose'; prismaDir: string; databaseUrl: string };
export type EngineResponse =
  | { kind: 'compared'; sql: string }
  | { kind: 'diagnosed'; history: DiagnoseMigrationHistoryOutput }
  | { kind: 'failed'; reason: string };

// The built file, also if a test runs this module from its source.
const child = fileURLToPath(new URL('../../dist/development/engine-child.js', import.meta.url));

/** Runs the schema engine once in a child process, which exits with this process. */
export async function runEngine(request: EngineRequest): Promise<EngineResponse> {
  const engine = fork(child, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const response = await new Promise<EngineResponse>((resolve, reject) => {
    engine.once('message', (message) => resolve(message as EngineResponse)); // child.ts sends only such messages
    engine.once('error', reject);
    engine.once('exit', (code, signal) => {
      reject(new Error(`The process of the schema engine ended with ${signal ?? code}. See its output, and retry.`));
    });
    // A message, not an argument or the environment, because the URL contains a password.
    engine.send({ ...request, prismaDir: path.resolve(request.prismaDir) }, (error) => error && reject(error));
  });
  return response;
}
