// The conformance suite of the Model Context Protocol, at its pinned version.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import { conformanceServer } from './conformance/server.ts';
import { startMounted } from './mounted.ts';

const mounted = await startMounted(conformanceServer);
const folder = await mkdtemp(path.join(tmpdir(), 'svc-conformance-'));
afterAll(async () => {
  await mounted.stop();
  await rm(folder, { recursive: true, force: true });
});

const program = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
);
const globs = fileURLToPath(new URL('./conformance/globs.mjs', import.meta.url));

/** Runs the scenarios that a revision requires. The suite also fails if an expected failure passes. */
async function runSuite(revision: string, expectedFailures: readonly string[]) {
  const baseline = path.join(folder, `${revision}.yml`);
  await writeFile(baseline, `server:\n${expectedFailures.map((name) => `  - ${name}\n`).join('')}`);
  const options = [
    '--requirements',
    revision,
    '--expected-failures',
    baseline,
    '--output-dir',
    path.join(folder, revision),
  ];
  return new Promise<{ readonly code: number | undefined; readonly output: string }>((resolve) => {
    execFile(
      process.execPath,
      ['--import', globs, program, 'server', '--url', `${mounted.url}/mcp`, ...options],
      { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, output: `${stdout}\n${stderr}` }),
    );
  });
}

test.each([
  ['2026-07-28', []],
  [
    '2025-11-25',
    // They need a session: the server sends a request to the client during a call.
    ['tools-call-sampling', 'tools-call-elicitation', 'elicitation-sep1034-defaults', 'elicitation-sep1330-enums'],
  ],
])(
  'the endpoint passes the scenarios that revision %s requires, except those that are listed',
  async (revision, expectedFailures) => {
    const { code, output } = await runSuite(revision, expectedFailures);
    expect([code, output]).toEqual([0, output]);
  },
  240_000,
);
