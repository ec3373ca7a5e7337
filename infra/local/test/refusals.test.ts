import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { markOf } from '../src/process-mark.ts';
import { freePorts, mainScript } from './product.ts';

let folder: string;
let server: Server | undefined;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), 'refusals-'));
});
afterEach(() => {
  fs.rmSync(folder, { recursive: true });
  server?.close();
});

/** Starts the product where it can't start; answers how that went. */
function refusal(env: NodeJS.ProcessEnv) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [mainScript], {
    encoding: 'utf8',
    timeout: 20_000, // should it start after all
    env: { PATH: process.env.PATH, ...env },
  });
  return { status, stdout, stderr };
}

test('a port in use is said in one sentence, and nothing is left behind', async () => {
  const ports = await freePorts();
  server = createServer().listen(Number(ports.FLEET_PORT), '127.0.0.1');
  await once(server, 'listening');
  const DATA_DIR = path.join(folder, 'data');
  expect(refusal({ ...ports, DATA_DIR })).toEqual({
    status: 1,
    stdout: '',
    stderr: `Port ${ports.FLEET_PORT} is in use: stop what listens there, or choose another one with FLEET_PORT.\n`,
  });
  expect(fs.existsSync(DATA_DIR)).toBe(false);
});

test('a data folder that can not be made is said in one sentence', async () => {
  const DATA_DIR = path.join(folder, 'file', 'data');
  fs.writeFileSync(path.join(folder, 'file'), '');
  expect(refusal({ ...(await freePorts()), DATA_DIR })).toEqual({
    status: 1,
    stdout: '',
    stderr: `The data folder ${DATA_DIR} can't be written (ENOTDIR): mend that, or choose another one with DATA_DIR.\n`,
  });
});

test('a data folder that a living process uses is said in one sentence', async () => {
  fs.writeFileSync(path.join(folder, 'run.json'), JSON.stringify({ ...markOf(process.pid), services: [] }));
  expect(refusal({ ...(await freePorts()), DATA_DIR: folder })).toEqual({
    status: 1,
    stdout: '',
    stderr: `It runs already on ${folder} (process ${process.pid}): stop that one, or choose another DATA_DIR and other ports.\n`,
  });
});
