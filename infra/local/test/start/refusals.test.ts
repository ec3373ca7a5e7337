import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { scaled } from '@svc/testing';
import { markOf } from '../../src/process-mark.ts';
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

/** Starts the product with settings with which it cannot start. @returns its exit code and output */
function failedStart(env: NodeJS.ProcessEnv) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [mainScript], {
    encoding: 'utf8',
    timeout: scaled(20_000), // in case it starts
    env: { PATH: process.env.PATH, ...env },
  });
  return { status, stdout, stderr };
}

test('a port in use is reported, and no files are created', async () => {
  const ports = await freePorts();
  server = createServer().listen(Number(ports.FLEET_PORT), '127.0.0.1');
  await once(server, 'listening');
  const DATA_DIR = path.join(folder, 'data');
  expect(failedStart({ ...ports, DATA_DIR })).toEqual({
    status: 1,
    stdout: '',
    stderr: `Port ${ports.FLEET_PORT} is in use. Stop the program that uses it, or choose another port with FLEET_PORT.\n`,
  });
  expect(fs.existsSync(DATA_DIR)).toBe(false);
});

test('a data folder that cannot be created is reported', async () => {
  const DATA_DIR = path.join(folder, 'file', 'data');
  fs.writeFileSync(path.join(folder, 'file'), '');
  expect(failedStart({ ...(await freePorts()), DATA_DIR })).toEqual({
    status: 1,
    stdout: '',
    stderr: `The data folder ${DATA_DIR} is not writable (ENOTDIR). Change its permissions, or choose another folder with DATA_DIR.\n`,
  });
});

test('a data folder that another process uses is reported', async () => {
  fs.writeFileSync(path.join(folder, 'run.json'), JSON.stringify({ ...markOf(process.pid), services: [] }));
  expect(failedStart({ ...(await freePorts()), DATA_DIR: folder })).toEqual({
    status: 1,
    stdout: '',
    stderr: `The product already runs with ${folder} (process ${process.pid}). Stop it, or choose another DATA_DIR and other ports.\n`,
  });
});
