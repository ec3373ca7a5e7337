// The examples in infra/proxy with nginx, HAProxy and Caddy, in front of services that return the headers that they receive.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as requestPlain } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority, eventually, freePort, type LoopbackServer, onLoopback } from '@svc/testing';
import { programAt } from '@svc/testing/engine';

/** The sizes of the largest requests: an import of the hub, and a deployment. */
const MAX_BODY_BYTES = { hub: 16 * 1024 * 1024, fleet: 64 * 1024 * 1024 };
const SERVICES = ['hub', 'fleet'] as const;
type Service = (typeof SERVICES)[number];
const PORTS = { hub: 4100, fleet: 4200 };

/** Where a test starts a proxy. */
interface Place {
  readonly folder: string;
  readonly http: number;
  readonly https: number;
  readonly certificate: string;
  readonly key: string;
  /** The addresses of the replicas of both services: one that works, one that refuses connections, and one that must not be used. */
  readonly works: string;
  readonly refuses: string;
  readonly spared: string;
}

interface Example {
  readonly program: string;
  /** The configuration for a place, from the files in infra/proxy. */
  readonly configure: (place: Place) => string;
  /** The arguments that check a file with the configuration, and those that run it. */
  readonly check: (file: string) => readonly string[];
  readonly run: (file: string) => readonly string[];
  /** Whether the proxy requests `/readyz`. If not, the replica that must not be used is marked as down. */
  readonly isActive: boolean;
  /** Whether the proxy itself rejects bodies above the limit. */
  readonly limitsBodies: boolean;
}

/** The replicas of this process do not answer in 250 ms while the machine is busy. */
const PATIENT_CHECK = 'timeout check 30s';

const read = (file: string) => fs.readFileSync(path.resolve(import.meta.dirname, '../../proxy', file), 'utf8');

/** Replaces each line with the address of a replica by several lines. @param lineFor the line for an address */
const withReplicas = (
  text: string,
  pattern: RegExp,
  lineFor: (line: string, address: string, index: number) => string,
  place: Place,
) =>
  text.replace(pattern, (line) =>
    [place.refuses, place.works, place.spared].map((address, index) => lineFor(line, address, index)).join('\n'),
  );

const examples: Readonly<Record<string, Example>> = {
  nginx: {
    program: 'nginx',
    isActive: false,
    limitsBodies: true,
    check: (file) => ['-t', '-q', '-c', file, '-e', 'stderr'],
    run: (file) => ['-c', file, '-e', 'stderr'],
    configure: (place) => {
      const { folder } = place;
      const sites = SERVICES.map((service) => read(`nginx-${service}.conf`)).join('\n');
      const replicas = withReplicas(
        sites,
        /^ +server 127\.0\.0\.1:\d+ .*;$/gm,
        (line, address) =>
          line.replace(/127\.0\.0\.1:\d+/, address).replace(';', address === place.spared ? ' down;' : ';'),
        place,
      );
      const site = replicas
        .replaceAll('listen 80', `listen 127.0.0.1:${place.http}`)
        .replaceAll('listen 443', `listen 127.0.0.1:${place.https}`)
        .replace(/\/etc\/nginx\/tls\/\w+\.crt/g, place.certificate)
        .replace(/\/etc\/nginx\/tls\/\w+\.key/g, place.key);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      );
      return `pid ${folder}/pid;\nerror_log stderr;\ndaemon off;\nmaster_process off;\nevents {}\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${site}}\n`;
    },
  },
  HAProxy: {
    program: 'haproxy',
    isActive: true,
    limitsBodies: false,
    check: (file) => ['-c', '-q', '-f', file],
    run: (file) => ['-db', '-q', '-f', file],
    configure: (place) => {
      const folder = path.join(place.folder, 'tls');
      fs.mkdirSync(folder);
      const pem = [place.certificate, place.key].map((file) => fs.readFileSync(file, 'utf8')).join('');
      fs.writeFileSync(path.join(folder, 'services.pem'), pem);
      return withReplicas(
        read('haproxy.cfg'),
        /^ +server \w+-1 127\.0\.0\.1:\d+/gm,
        (line, address, index) => line.replace(/-1 .*/, `-${index} ${address}`),
        place,
      )
        .replace('bind :80', `bind 127.0.0.1:${place.http}`)
        .replace('bind :443', `bind 127.0.0.1:${place.https}`)
        .replace('/etc/haproxy/tls/', `${folder}/`)
        .replace('timeout check 250ms', PATIENT_CHECK);
    },
  },
  Caddy: {
    program: 'caddy',
    isActive: true,
    limitsBodies: false,
    check: (file) => ['validate', '--adapter', 'caddyfile', '--config', file],
    run: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    configure: (place) => {
      const global = `{
	admin off
	default_bind 127.0.0.1
	http_port ${place.http}
	https_port ${place.https}
	storage file_system ${place.folder}/storage
}
`;
      const replicas = [place.refuses, place.works, place.spared].join(' ');
      const sites = read('Caddyfile')
        .replace(/127\.0\.0\.1:(?:4100|4200)(?= \{)/g, replicas)
        .replaceAll('health_timeout 250ms', 'health_timeout 30s') // as for HAProxy
        .replace(/\/etc\/caddy\/tls\/\w+\.crt/g, place.certificate)
        .replace(/\/etc\/caddy\/tls\/\w+\.key/g, place.key);
      return global + sites;
    },
  },
};

/** A service that returns the headers of a request. */
const reply = (readiness: number) => (req: IncomingMessage, res: ServerResponse) => {
  if (req.url === '/readyz') {
    res.writeHead(readiness).end();
    return;
  }
  if (req.url === '/stream') {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    res.write('data: first\n\n'); // and never ends
    return;
  }
  req.resume().once('end', () => res.end(JSON.stringify(req.headers)));
};

describe.each(Object.entries(examples))('%s', (title, { program, configure, check, run, isActive, limitsBodies }) => {
  const at = programAt(program);
  (at ? describe : describe.skip)(at ? 'with its example' : `(skipped: ${program} not installed)`, () => {
    let place: Place;
    let upstream: LoopbackServer;
    let spared: LoopbackServer;
    let stop: (() => Promise<void>) | undefined;
    /** The requests to the replica that must not be used, other than probes. */
    let wrong = 0;

    beforeAll(async () => {
      const folder = fs.mkdtempSync(path.join(tmpdir(), 'proxy-'));
      upstream = await onLoopback(reply(200));
      const unready = reply(503);
      spared = await onLoopback((req, res) => {
        if (req.url !== '/readyz') wrong += 1;
        unready(req, res);
      });
      place = {
        ...{ folder, http: await freePort(), https: await freePort() },
        ...createAuthority(folder).issue(SERVICES.map((service) => `${service}.example.com`)),
        works: new URL(upstream.url).host,
        refuses: `127.0.0.1:${await freePort()}`,
        spared: new URL(spared.url).host,
      };
      const file = path.join(folder, 'configuration');
      fs.writeFileSync(file, configure(place));
      const options = { env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder } };
      execFileSync(at ?? '', [...check(file)], { ...options, stdio: 'pipe' });
      const child = spawn(at ?? '', [...run(file)], { ...options, stdio: 'ignore' });
      stop = async () => {
        const ended = once(child, 'exit');
        child.kill('SIGKILL'); // a proxy waits for streams
        await ended;
      };
      await eventually(`${title} has found the replica that works`, () =>
        ask('fleet', '/').then(
          ({ statusCode }) => statusCode === 200,
          () => false, // not listening yet
        ),
      );
      if (isActive) await eventually('no further request reaches the replica that is not ready', settled);
    });
    afterAll(async () => {
      await stop?.();
      await Promise.all([upstream.stopListening(), spared.stopListening()]);
      fs.rmSync(place.folder, { recursive: true });
    });

    /** Whether several requests did not reach the replica that is not ready. */
    const settled = async () => {
      const before = wrong;
      for (const service of SERVICES) for (let count = 0; count < 4; count += 1) await ask(service, '/');
      return wrong === before;
    };

    /** Sends a request to the name of a service. */
    async function ask(service: Service, url: string, o: { headers?: Record<string, string>; body?: Buffer } = {}) {
      const headers = { host: `${service}.example.com`, ...o.headers };
      const pending = request({
        ...{ port: place.https, path: url, headers, method: o.body ? 'POST' : 'GET', agent: false },
        ...{ servername: headers.host, rejectUnauthorized: false },
      }).end(o.body);
      const [response] = (await once(pending, 'response')) as [IncomingMessage];
      return response;
    }
    const textOf = async (response: IncomingMessage) => Buffer.concat(await response.toArray()).toString();

    test.each(SERVICES)(
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

    test.each(SERVICES)('delivers a part of a stream of the %s at once', async (service) => {
      const response = await ask(service, '/stream');
      const [chunk] = await once(response, 'data');
      expect(String(chunk)).toBe('data: first\n\n');
      response.destroy();
    });

    test.each(SERVICES)('passes bodies of the maximum size to the %s', async (service) => {
      expect((await ask(service, '/', { body: Buffer.alloc(MAX_BODY_BYTES[service]) })).statusCode).toBe(200);
      if (!limitsBodies) return;
      const tooLarge = await ask(service, '/', {
        headers: { 'content-length': String(MAX_BODY_BYTES[service] + 1) },
        body: Buffer.alloc(1),
      });
      expect(tooLarge.statusCode).toBe(413);
    });

    test.each(SERVICES)('does not publish the metrics of the %s', async (service) => {
      expect((await ask(service, '/metrics')).statusCode).toBe(404);
    });

    test.each(SERVICES)('tells browsers to use https for the %s, and redirects from http', async (service) => {
      const { headers } = await ask(service, '/');
      expect(headers['strict-transport-security']).toBe('max-age=31536000');
      const host = `${service}.example.com`;
      const pending = requestPlain({ port: place.http, path: '/docs?a=b', headers: { host }, agent: false }).end();
      const [redirect] = (await once(pending, 'response')) as [IncomingMessage];
      expect(redirect.statusCode).toBe(308);
      expect(redirect.headers.location).toMatch(new RegExp(`^https://${host}(?::${place.https})?/docs\\?a=b$`));
    });

    test.each(SERVICES)('uses no replica of the %s that refuses connections or is not ready', async (service) => {
      const before = wrong;
      const statuses = new Set<number | undefined>();
      for (let count = 0; count < 12; count += 1) {
        const response = await ask(service, '/', count % 2 === 0 ? {} : { body: Buffer.from('{}') });
        statuses.add(response.statusCode);
        response.resume();
      }
      expect([...statuses]).toEqual([200]);
      expect(wrong).toBe(before);
    });
  });
});

test('the examples name the ports of the services', () => {
  for (const service of SERVICES) {
    const address = `127.0.0.1:${PORTS[service]}`;
    for (const file of [`nginx-${service}.conf`, 'haproxy.cfg', 'Caddyfile']) expect(read(file)).toContain(address);
  }
});
