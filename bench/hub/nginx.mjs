// nginx, which sends bodies of the hub as files. It shows what the same requests cost a server in C.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createClient } from '../shared/client.mjs';
import { cpuOf, end } from '../shared/processes.mjs';

const STATUS = '/status';

const configOf = (port, names) => `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
  access_log access.log;
  keepalive_requests 1000000000;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = ${STATUS} { access_log off; stub_status; }
    ${names.map((name) => `location = /${name} { default_type application/json; alias ${name}.json; }`).join('\n    ')}
  }
}
`;

/**
 * Starts nginx with one process that sends these responses, by path, and writes its access log.
 * @returns a server as `startServer` does, with its `url`; undefined if nginx is not installed
 * @throws if it does not send the same bodies
 */
export async function startNginx(responses) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-nginx-'));
  const entries = Object.entries(responses);
  for (const [at, { body }] of entries) fs.writeFileSync(path.join(folder, `${at.slice(1)}.json`), body);
  const port = await freePort();
  // Without a prefix, nginx resolves the file of an alias with that of its build.
  const config = configOf(
    port,
    entries.map(([at]) => at.slice(1)),
  ).replace(/alias /g, `alias ${folder}/`);
  fs.writeFileSync(path.join(folder, 'nginx.conf'), config);
  const child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${port}`;
  const remove = () => fs.rmSync(folder, { recursive: true, force: true });
  if (!(await once(child, 'spawn').then(() => true, isMissing))) {
    remove();
    return undefined;
  }
  const client = createClient({ url });
  const stop = async () => {
    client.close();
    await end(child);
    remove();
  };
  try {
    await answered(client);
    for (const [at, { body }] of entries) {
      const received = await client.send({ path: at });
      if (received.status !== 200 || !received.body.equals(body)) throw new Error(`${at}: nginx sends other bytes`);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, pid: child.pid, cpu: () => cpuOf(child.pid), counts: () => countsOf(client), stop };
}

function isMissing(error) {
  if (error.code === 'ENOENT') return false;
  throw error;
}

async function freePort() {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  await once(server.close(), 'close');
  return port;
}

/** Waits until nginx listens. */
async function answered(client) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.send({ path: STATUS });
    } catch (error) {
      if (tries === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** The counts of `startServer` that nginx has. */
async function countsOf(client) {
  const { body } = await client.send({ path: STATUS });
  const [open, connections] = `${body}`.match(/\d+/g).map(Number);
  return { open, connections, stalled: 0, statuses: {} };
}
