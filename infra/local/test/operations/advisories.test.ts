import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { onLoopback } from '@svc/testing';
import { repository } from '../../src/settings.ts';

const ADVISORY = {
  id: 1,
  url: 'https://example.com/1',
  title: 'Bad',
  severity: 'high',
  vulnerable_versions: '<99.0.0',
};

/** Runs `pnpm advisories` with a registry that answers each request like this. @returns its exit code and output */
async function advisories(status: number, body: object): Promise<{ code: number; output: string }> {
  const registry = await onLoopback((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const env = { ...process.env, PNPM_CONFIG_REGISTRY: registry.url };
  const child = spawn(process.execPath, [path.join(repository, 'infra/ci/advisories.mjs')], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const [code] = await once(child, 'close');
  await registry.stopListening();
  return { code, output };
}

test('without advisories, the exit code is 0', async () => {
  expect(await advisories(200, {})).toEqual({ code: 0, output: expect.stringContaining('No known vulnerabilities') });
});

test('with an advisory, the exit code is 1, and the package is listed', async () => {
  const { code, output } = await advisories(200, {
    express: [{ ...ADVISORY, cwe: [], cvss: { score: 7, vectorString: '' } }],
  });
  expect(code).toBe(1);
  expect(output).toContain('express');
});

test('with a registry that provides no advisories, the exit code is 2, and the output says that nothing is known', async () => {
  const { code, output } = await advisories(404, {});
  expect(code).toBe(2);
  expect(output).toContain('provides no advisories, so nothing is known');
});
