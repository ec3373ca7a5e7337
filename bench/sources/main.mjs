// What do sources cost whose repositories do not change?
//
//   pnpm bench:sources [--sources <default 500>] [--seconds <per phase, default 60>]
//
// Method: a fleet runs as in production. Its sources follow branches of a repository that git has served once; the responses are
// repeated from memory, so that the server costs little on this machine. Each source has a plan of one document, is checked every
// 300 s, and finds the commit that it has read before. Phases with all sources and without any alternate, and the CPU time of
// the fleet and of PostgreSQL is compared. The goal is that 500 sources use at most 2 % of a core.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startFleet } from '../fleet/processes.mjs';
import { createClient } from '../shared/client.mjs';
import { withClient } from '../shared/database.mjs';
import { cpuOf } from '../shared/processes.mjs';
import { atMost, createReport } from '../shared/report.mjs';
import { median } from '../shared/statistics.mjs';

const { values } = parseArgs({
  options: { sources: { type: 'string', default: '500' }, seconds: { type: 'string', default: '60' } },
});
const SOURCES = Number(values.sources);
const SECONDS = Number(values.seconds);
const ROUNDS = 3;
const GOAL_PERCENT = 2;

/** A host on which the planned deployments would run. */
const HOST = `
  INSERT INTO hosts (id, name, engine, endpoint, by_admin, created_by, reachability, cpu_millis, memory_bytes, check_at)
  VALUES (gen_random_uuid(), 'host', 'docker', 'unix:///run/engine.sock', true, 'bench', 'online', 64000, 274877906944,
    now() + interval '1 day')`;

/** Serves one repository below each name, with responses that git has made once. */
async function startRepositories() {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-sources-'));
  const repository = path.join(folder, 'shop.git');
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', repository]);
  const document = 'kind: deployment\nname: web\nspec: {image_name: team/web}\n';
  const input = `commit refs/heads/main\ncommitter A <a@example.test> 1700000000 +0000\ndata 5\nfirst\nM 100644 inline web.yaml\ndata ${document.length}\n${document}\n`;
  const { status } = spawnSync('git', ['fast-import', '--quiet'], {
    env: { ...process.env, GIT_DIR: repository },
    input,
  });
  if (status !== 0) throw new Error('git fast-import failed');
  const backend = path.join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-http-backend');
  const known = new Map();
  const ask = async (req, pathname, search, body) => {
    const child = spawn(backend, {
      env: {
        ...process.env,
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_PROTOCOL: 'version=2',
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: req.method,
        CONTENT_TYPE: req.headers['content-type'] ?? '',
        CONTENT_LENGTH: `${body.length}`,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(body);
    const output = await buffer(child.stdout);
    const end = output.indexOf('\r\n\r\n');
    const headers = output
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(': '));
    return { headers: Object.fromEntries(headers), body: output.subarray(end + 4) };
  };
  const server = createServer(async (req, res) => {
    const { pathname, search } = new URL(req.url, 'http://localhost');
    const at = pathname.replace(/^\/[^/]+/, '/shop.git');
    const body = await buffer(req);
    const key = `${req.method} ${at}${search} ${createHash('sha1').update(body).digest('hex')}`;
    if (!known.has(key)) known.set(key, ask(req, at, search, body));
    const answer = await known.get(key);
    res.writeHead(200, answer.headers).end(answer.body);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const { report, end } = createReport();
const repositories = await startRepositories();
const fleet = await startFleet();
try {
  await withClient(fleet.databaseUrl, (database) => database.query(HOST));
  const client = createClient({ url: fleet.replica.url });
  for (let index = 0; index < SOURCES; index += 1) {
    const body = { name: `source-${index}`, url: `${repositories.url}/source-${index}.git` };
    const { status, body: text } = await client.send({
      method: 'POST',
      path: '/api/v1/sources',
      key: fleet.tokens.admin,
      body,
    });
    if (status !== 201) throw new Error(`POST sources was answered with ${status}: ${text}`);
  }
  client.end();
  client.close();
  await withClient(fleet.databaseUrl, async (database) => {
    const count = async (condition) =>
      Number((await database.query(`SELECT count(*) FROM sources WHERE ${condition}`)).rows[0].count);
    while ((await count('plan_id IS NULL')) > 0) await delay(500);
    // As after the application of each plan.
    await database.query('UPDATE sources SET settled = true, applied_commit = commit');
    const cpu = () => cpuOf(fleet.replica.pid) + fleet.databaseCpu();
    const measure = async () => {
      await delay(2000);
      const before = cpu();
      await delay(SECONDS * 1000);
      return ((cpu() - before) / (SECONDS * 1000)) * 100;
    };
    const shares = { idle: [], sources: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      await database.query("UPDATE sources SET disabled_at = now(), disabled_reason = 'bench'");
      shares.idle.push(await measure());
      await database.query(
        "UPDATE sources SET disabled_at = NULL, disabled_reason = NULL, check_at = now() + random() * interval '300 s'",
      );
      shares.sources.push(await measure());
    }
    const failing = await count('failure IS NOT NULL');
    if (failing > 0) throw new Error(`${failing} checks failed`);
    const [idle, all] = [median(shares.idle), median(shares.sources)];
    report(
      `${SOURCES} idle sources use ${(all - idle).toFixed(2)} % of a core (${all.toFixed(2)} % with them, ${idle.toFixed(2)} % without)`,
      atMost(all - idle, GOAL_PERCENT),
    );
  });
} finally {
  await fleet.stop();
  repositories.stop();
}
end();
