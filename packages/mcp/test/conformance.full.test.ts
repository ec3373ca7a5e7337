// The conformance suite of the Model Context Protocol, at its pinned version.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { conformanceServer } from './conformance/server.ts';
import { startMounted } from './mounted.ts';

const mounted = await startMounted(conformanceServer);
const folder = await mkdtemp(path.join(tmpdir(), 'svc-conformance-'));
afterAll(async () => {
  await mounted.stop();
  await rm(folder, { recursive: true, force: true });
});

const suite = path.dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'));

/**
 * The time limit of a scenario in milliseconds. Those that fail because of a missing session wait
 * for it.
 */
const SCENARIO_MS = 10_000;

/**
 * Runs the scenarios of a revision. It also fails if one of them fails, so that only the results
 * count.
 */
async function runSuite(revision: string, results: string): Promise<void> {
  const options = ['--requirements', revision, '--timeout', `${SCENARIO_MS}`, '--output-dir', results];
  const program = [path.join(suite, 'dist/index.js'), 'server', '--url', `${mounted.url}/mcp`, ...options];
  await new Promise<void>((resolve) => {
    const ended = () => resolve();
    execFile(process.execPath, program, { cwd: folder, maxBuffer: 64 * 1024 * 1024 }, ended);
  });
}

/** The scenarios that a revision requires of a server. */
async function requiredScenarios(revision: string): Promise<readonly string[]> {
  const text = await readFile(path.join(suite, 'requirements', `${revision}.yaml`), 'utf8');
  const [, list = ''] = /^server:\n((?: {2}.*\n|\n)+)/m.exec(text) ?? [];
  return [...list.matchAll(/^ {2}- (\S+)$/gm)].map(([, name = '']) => name);
}

/** The failed checks of each scenario that ran. */
async function failedChecks(results: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const failures = new Map<string, readonly string[]>();
  for (const name of await readdir(results)) {
    const [, scenario = ''] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name) ?? [];
    const checks: { id: string; status: string; errorMessage?: string }[] = JSON.parse(
      await readFile(path.join(results, name, 'checks.json'), 'utf8'),
    );
    const failed = checks.filter(({ status }) => status === 'FAILURE');
    failures.set(
      scenario,
      failed.map(({ id, errorMessage = '' }) => `${id}: ${errorMessage}`),
    );
  }
  return failures;
}

test.each([
  ['2026-07-28', 37, []],
  [
    '2025-11-25',
    30,
    // They need a session: the server sends a request to the client during a call.
    ['elicitation-sep1034-defaults', 'elicitation-sep1330-enums', 'tools-call-elicitation', 'tools-call-sampling'],
  ],
])(
  'the endpoint passes all scenarios that revision %s requires, except those that are listed',
  async (revision, count, expectedFailures) => {
    const results = path.join(folder, revision);
    await runSuite(revision, results);
    const required = await requiredScenarios(revision);
    expect(required).toHaveLength(count);
    const failures = await failedChecks(results);
    expect(required.filter((scenario) => !failures.has(scenario))).toEqual([]);
    const failed = required.filter((scenario) => failures.get(scenario)?.length !== 0);
    const unexpected = failed.filter((scenario) => !expectedFailures.includes(scenario));
    expect(unexpected.map((scenario) => [scenario, failures.get(scenario)])).toEqual([]);
    expect(failed.toSorted()).toEqual(expectedFailures);
  },
);
