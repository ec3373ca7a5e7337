// infra/proxy/nginx-*.conf with nginx, and a service behind it that returns the headers that it receives.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually, freePort, type LoopbackServer, onLoopback } from '@svc/testing';
import { programAt } from '@svc/testing/engine';

const nginx = programAt('nginx');
const MAX_BODY_BYTES = 1024 * 1024;

const reply = (req: IncomingMessage, res: ServerResponse) => {
  if (req.url === '/stream') {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    res.write('data: first\n\n'); // and never ends
    return;
  }
  req.resume().once('end', () => res.end(JSON.stringify(req.headers)));
};

(nginx ? describe : describe.skip)(`nginx${nginx ? '' : ' (skipped: nginx not installed)'}`, () => {
  let folder: string;
  let port: number;
  let upstream: LoopbackServer;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'nginx-'));
    upstream = await onLoopback(reply);
    port = await freePort();
    const [key, certificate] = [path.join(folder, 'key'), path.join(folder, 'crt')];
    const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
    execFileSync('openssl', [...args, '-subj', '/CN=localhost', '-keyout', key, '-out', certificate], {
      stdio: 'pipe',
    });
    const site = ['hub', 'fleet']
      .map((name) => fs.readFileSync(path.resolve(import.meta.dirname, `../../proxy/nginx-${name}.conf`), 'utf8'))
      .join('\n')
      .replace(/listen 443/g, `listen 127.0.0.1:${port}`)
      .replace(/\/etc\/nginx\/tls\/\w+\.(crt|key)/g, `${folder}/$1`)
      .replace(/127\.0\.0\.1:4[12]00/g, new URL(upstream.url).host);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const config = path.join(folder, 'nginx.conf');
    await writeFile(
      config,
      `pid ${folder}/pid;\nerror_log stderr;\ndaemon off;\nmaster_process off;\nevents {}\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${site}}\n`,
    );
    const child = spawn(nginx ?? '', ['-c', config, '-e', 'stderr'], { stdio: 'ignore' });
    stop = async () => {
      child.kill();
      await once(child, 'exit');
    };
    await eventually('nginx listens', () =>
      ask('hub', '/').then(
        () => true,
        () => false,
      ),
    );
  });
  afterAll(async () => {
    await stop();
    await upstream.stopListening();
    await rm(folder, { recursive: true });
  });

  /** Sends a request to the name of a service. */
  async function ask(service: string, url: string, o: { headers?: Record<string, string>; body?: Buffer } = {}) {
    const headers = { host: `${service}.example.com`, ...o.headers };
    const options = {
      port,
      path: url,
      headers,
      method: o.body ? 'POST' : 'GET',
      rejectUnauthorized: false,
      agent: false,
    } as const;
    const pending = request(options).end(o.body);
    const [response] = (await once(pending, 'response')) as [IncomingMessage];
    return response;
  }
  const textOf = async (response: IncomingMessage) => Buffer.concat(await response.toArray()).toString();

  test.each(['hub', 'fleet'])(
    'passes the address of the client to the %s, and not one that the client invented',
    async (service) => {
      const response = await ask(service, '/', {
        headers: { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' },
      });
      expect(JSON.parse(await textOf(response))).toMatchObject({
        host: `${service}.example.com`,
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-proto': 'https',
      });
    },
  );

  test.each(['hub', 'fleet'])('delivers a part of a stream of the %s at once', async (service) => {
    const response = await ask(service, '/stream');
    const [chunk] = await once(response, 'data');
    expect(String(chunk)).toBe('data: first\n\n');
    response.destroy();
  });

  test.each(['hub', 'fleet'])(
    'passes bodies of the maximum size to the %s, and rejects larger ones',
    async (service) => {
      expect((await ask(service, '/', { body: Buffer.alloc(MAX_BODY_BYTES) })).statusCode).toBe(200);
      const tooLarge = await ask(service, '/', {
        headers: { 'content-length': String(MAX_BODY_BYTES + 1) },
        body: Buffer.alloc(1),
      });
      expect(tooLarge.statusCode).toBe(413);
    },
  );

  test.each(['hub', 'fleet'])('does not publish the metrics of the %s', async (service) => {
    expect((await ask(service, '/metrics')).statusCode).toBe(404);
  });
});
