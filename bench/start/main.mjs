// What does the start of a service, and of the command line client, cost?
//
//   pnpm bench:start [--against <folder of another built checkout>] [--runs <default 7>]
//                    [--no-size] [--record]
//
// Method: the databases are migrated, and the fleet has a temporary admin. The bench measures the
// CPU time of the process (user and system) until /readyz is 200, and the number of files of code
// that it has loaded by then, in a run of its own with a hook. The memory is that of the process
// after ten seconds without requests. The size is that of the folder that
// infra/docker/assemble.mjs writes; in a checkout with pnpm, it needs pnpm on PATH. Checkouts take
// turns, so that the machine is equally busy for both, and run on the Node of this bench. The first
// run of each does not count, because it fills the compile cache. Medians count.
// Of the client, the bench measures the CPU time of the whole process for a command that sends no request.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '@svc/database/embedded';
import { startPostgres } from '../shared/database.mjs';
import { cpuOf, end, memoryOf } from '../shared/processes.mjs';
import { atMost, createReport } from '../shared/report.mjs';
import { repository } from '../shared/services.mjs';
import { median } from '../shared/statistics.mjs';

const { values } = parseArgs({
  options: {
    against: { type: 'string' },
    runs: { type: 'string', default: '7' },
    'no-size': { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
});
const runs = Number(values.runs);
const MEMORY_RUNS = 3;
const REST_MS = 10_000;
const READY_TIMEOUT_MS = 60_000;

/** The CPU time in milliseconds, and the size in relation to that of another checkout. */
const GOALS = { cpu: { hub: 700, fleet: 900, svc: 150 }, size: 0.6 };

const checkouts = [
  ...(values.against ? [{ name: 'before', root: path.resolve(values.against) }] : []),
  { name: 'now', root: repository },
];

const settingsOf = {
  hub: { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_AUDIENCE: 'https://hub.example.test' },
  fleet: {
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    HUB_SYNC_INTERVAL: '0',
    SVC_TEMP_ADMIN_USERNAME: 'admin',
    SVC_TEMP_ADMIN_PASSWORD: 'wG4-tulip-harbour-93',
  },
};

const COUNT = 'files of code: ';
/** Is loaded before a service to count the files of code. It prints the number at the end. */
const COUNTER = `import { registerHooks } from 'node:module';
  const files = new Set();
  registerHooks({ load: (url, context, next) => {
    if (url.startsWith('file:')) files.add(url);
    return next(url, context);
  } });
  process.on('exit', () => process.stderr.write('${COUNT}' + files.size + '\\n'));`;
const COUNTING = ['--import', `data:text/javascript,${encodeURIComponent(COUNTER)}`];

const CPU = 'milliseconds: ';
const CPU_AT_END = `process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    process.stderr.write('${CPU}' + Math.round((user + system) / 1000) + '\\n');
  });`;

/** The CPU time of the client, in milliseconds, for a command line. */
function cpuOfClient(root, args) {
  const options = ['--import', `data:text/javascript,${encodeURIComponent(CPU_AT_END)}`];
  const program = path.join(root, 'apps', 'cli', 'dist', 'svc.mjs');
  const { stderr } = spawnSync(process.execPath, [...options, program, ...args], { encoding: 'utf8' });
  return Number(new RegExp(`${CPU}(\\d+)`).exec(stderr)?.[1]);
}

/** Starts a service, and stops it after `measure`. @returns the result, and its error output */
async function run({ root, service, environment }, measure = async () => {}, options = []) {
  const port = await freePort();
  const main = path.join(root, 'apps', service, 'dist', 'main.js');
  const child = spawn(process.execPath, [...options, main], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', PORT: `${port}`, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const errors = text(child.stderr);
  try {
    await untilReady(`http://127.0.0.1:${port}/readyz`, child);
    const result = await measure(child.pid);
    await end(child);
    return { result, errors: await errors };
  } catch (error) {
    await end(child);
    throw new Error(`${main}: ${error.message}\n${await errors}`, { cause: error });
  }
}

async function untilReady(url, child) {
  for (const deadline = Date.now() + READY_TIMEOUT_MS; Date.now() < deadline; await delay(20)) {
    if (child.exitCode !== null) throw new Error('the process has ended');
    const { ok } = await fetch(url).catch(() => ({ ok: false })); // not listening yet
    if (ok) return;
  }
  throw new Error('the service did not become ready');
}

/** The size of the folder that a checkout assembles, in MB. */
function sizeOf({ root, service }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-assembled-'));
  try {
    const target = path.join(folder, service);
    const program = path.join(root, 'infra', 'docker', 'assemble.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, service, target], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${program}: ${stdout}${stderr}`);
    const files = fs.readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return files.reduce((sum, { parentPath, name }) => sum + fs.statSync(path.join(parentPath, name)).size, 0) / 1e6;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures a service in each checkout. @returns the results in the order of the checkouts */
async function measure(postgres, service) {
  const subjects = [];
  for (const { name, root } of checkouts) {
    const environment = { DATABASE_URL: await postgres.create(`${service}_${name}`), ...settingsOf[service] };
    subjects.push({ name, root, service, environment, cpu: [], memory: [] });
  }
  for (const subject of subjects) await run(subject); // migrates the database
  for (let count = 0; count < runs; count += 1) {
    for (const subject of subjects) subject.cpu.push((await run(subject, async (pid) => cpuOf(pid))).result);
  }
  for (let count = 0; count < MEMORY_RUNS; count += 1) {
    for (const subject of subjects) {
      const { result } = await run(subject, (pid) => delay(REST_MS).then(() => memoryOf(pid)));
      subject.memory.push(result);
    }
  }
  for (const subject of subjects) {
    const { errors } = await run(subject, undefined, COUNTING);
    subject.files = Number(new RegExp(`${COUNT}(\\d+)`).exec(errors)?.[1]);
    if (!values['no-size']) subject.size = sizeOf(subject);
  }
  return subjects;
}

const { report, end: endReport } = createReport();
const postgres = await startPostgres();
try {
  for (const service of ['hub', 'fleet']) {
    const subjects = await measure(postgres, service);
    const [before] = subjects.length > 1 ? subjects : [];
    for (const subject of subjects) {
      const { name, cpu, memory, files, size } = subject;
      const isNow = name === 'now';
      const verdict = (value, goal) => (isNow && goal !== undefined ? atMost(value, goal) : '');
      const of = `${service} ${name}`;
      const range = `${Math.min(...cpu)} to ${Math.max(...cpu)}`;
      report(`${of}: CPU time until ready ${median(cpu)} ms (${range})`, verdict(median(cpu), GOALS.cpu[service]));
      report(`${of}: ${files} files of code`);
      const atRest = Math.round(median(memory));
      report(`${of}: ${atRest} MB of memory at rest`, verdict(atRest, before && Math.round(median(before.memory))));
      if (size === undefined) continue;
      report(`${of}: assembled ${size.toFixed(1)} MB`, verdict(size, before && GOALS.size * before.size));
    }
  }
  for (const args of [['--version'], ['completion', 'bash'], ['scale', 'name', '2']]) {
    const cpu = Array.from({ length: runs }, () => cpuOfClient(repository, args));
    const range = `${Math.min(...cpu)} to ${Math.max(...cpu)}`;
    report(`svc ${args.join(' ')}: CPU time ${median(cpu)} ms (${range})`, atMost(median(cpu), GOALS.cpu.svc));
  }
} finally {
  await postgres.stop();
}
endReport(values.record ? { what: 'start' } : undefined, { runs });
