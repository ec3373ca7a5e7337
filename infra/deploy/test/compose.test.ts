import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { secretNamesOf } from '@svc/http';
import { parse } from 'yaml';
import { z } from 'zod';
import * as fleet from '../../../apps/fleet/src/config.ts';
import * as hub from '../../../apps/hub/src/config.ts';
import { parseSettings } from '../../identity-provider/src/settings.ts';

const repository = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => fs.readFileSync(path.join(repository, file), 'utf8');

const compose = z.object({
  services: z.record(
    z.string(),
    z.looseObject({
      profiles: z.array(z.string()).default([]),
      environment: z.record(z.string(), z.string()).default({}),
      env_file: z.array(z.string()).default([]),
      mem_limit: z.string(),
      pids_limit: z.int(),
      group_add: z.array(z.string()).default([]),
      secrets: z.array(z.string()).default([]),
      volumes: z.array(z.string()).default([]),
      ports: z.array(z.string()).default([]),
    }),
  ),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, as Compose does. */
const interpolate = (text: string, variables: NodeJS.Dict<string>) =>
  text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind?: string, rest = '') => {
    const value = variables[name];
    if (value) return value;
    if (kind === '?') throw new Error(`${name}: ${rest}`);
    return rest;
  });

const example = parseEnv(read('infra/docker/example.env'));
const interpolated = JSON.parse(
  JSON.stringify(parse(read('docker-compose.yml'), { merge: true })),
  (_, value: unknown) => (typeof value === 'string' ? interpolate(value, example) : value),
);
const { services, secrets } = compose.parse(interpolated);
const serviceOf = (name: string) => {
  const service = services[name];
  if (!service) throw new Error(`there is no service ${name}`);
  return service;
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'compose-'));
  execFileSync(path.join(repository, 'infra/docker/create-secrets.sh'), [path.join(folder, 'secrets')]);
});
afterAll(() => rm(folder, { recursive: true }));

/** The variables that the examples set, without those of secrets. */
const settingsOf = (name: string) =>
  Object.assign({}, ...serviceOf(name).env_file.map((file) => parseEnv(read(`infra/docker/example-${file}`))));

/** The environment of a service, in which the secrets are at their place on this machine. */
const environmentOf = (name: string): Record<string, string> => ({
  ...settingsOf(name),
  ...Object.fromEntries(
    Object.entries(serviceOf(name).environment).map(([variable, value]) => [
      variable,
      value.replace('/run/secrets', path.join(folder, 'secrets')),
    ]),
  ),
});

/** The variables of a service, also of commented lines of the examples, that are neither settings nor files of secret settings. */
const unknownVariables = (name: string, schema: z.ZodObject) => {
  const known = new Set([...Object.keys(schema.shape), ...secretNamesOf(schema).map((secret) => `${secret}_FILE`)]);
  const { environment, env_file: files } = serviceOf(name);
  const shown = files.flatMap((file) => read(`infra/docker/example-${file}`).match(/^#?\w+(?==)/gm) ?? []);
  const used = [...Object.keys(environment), ...shown.map((variable) => variable.replace('#', ''))];
  return used.filter((variable) => !known.has(variable));
};

test.each([
  ['hub', hub],
  ['hub-migration', hub],
  ['fleet', fleet],
  ['fleet-local-engine', fleet],
  ['fleet-migration', fleet],
])('each variable of %s is a setting of the service', (name, { schema }) => {
  expect(unknownVariables(name, schema)).toEqual([]);
});

test('the services accept the example and the created secrets', () => {
  expect(hub.readConfig(environmentOf('hub'))).toMatchObject({
    DATABASE_URL: expect.stringMatching(/^postgresql:\/\/hub_service:\w{48}@hub-database:5432\/hub$/),
    MIGRATE_ON_START: false,
    ENCRYPTION_KEYS: [{ kid: 'first' }],
    OIDC_ISSUER: 'http://identity-provider:4300',
    METRICS_TOKEN: expect.stringMatching(/^\w{48}$/),
  });
  for (const name of ['fleet', 'fleet-local-engine']) {
    expect(fleet.readConfig(environmentOf(name))).toMatchObject({
      DATABASE_URL: expect.stringMatching(/^postgresql:\/\/fleet_service:\w{48}@fleet-database:5432\/fleet$/),
      ENCRYPTION_KEYS: [{ kid: 'first' }],
      OIDC_ISSUER: 'http://identity-provider:4300',
      OIDC_CLIENT_ID: 'fleet',
      OIDC_CLIENT_SECRET: parseSettings(environmentOf('identity-provider')).fleetClientSecret,
    });
  }
  for (const [name, { readDatabaseSettings }] of [
    ['hub', hub],
    ['fleet', fleet],
  ] as const) {
    const { MIGRATION_DATABASE_URL } = readDatabaseSettings(environmentOf(`${name}-migration`));
    expect(MIGRATION_DATABASE_URL).toMatch(new RegExp(`^postgresql://${name}:\\w{48}@${name}-database:5432/${name}$`));
  }
});

test('an empty file of the API key counts as not set, and with HUB_URL it is reported', () => {
  const environment = environmentOf('fleet');
  expect(fleet.readConfig(environment).HUB_API_KEY).toBeUndefined();
  expect(() => fleet.readConfig({ ...environment, HUB_URL: 'http://hub:4100' })).toThrow('HUB_API_KEY: is required');
});

test('each service mounts exactly the secrets that it reads, and none is in the environment', () => {
  for (const [name, service] of Object.entries(services)) {
    const files = Object.values(service.environment).flatMap(
      (value) => value.match(/^\/run\/secrets\/(.*)$/)?.[1] ?? [],
    );
    const byDatabase = name.endsWith('-database')
      ? ['owner', 'service'].map((role) => `${service.environment.SERVICE}-${role}-password`)
      : [];
    expect({ name, secrets: new Set(service.secrets) }).toEqual({ name, secrets: new Set([...files, ...byDatabase]) });
  }
  const created = fs.readdirSync(path.join(folder, 'secrets'));
  expect(new Set(Object.values(secrets).map(({ file }) => file))).toEqual(
    new Set(created.map((name) => `./secrets/${name}`)),
  );
});

test('convert-0.1.0.sh keeps the secrets of 0.1.0, and creates the roles of the services', () => {
  const converted = path.join(folder, 'converted');
  fs.mkdirSync(converted);
  const secret = (name: string) => fs.readFileSync(path.join(converted, 'secrets', name), 'utf8').trim();
  const env = {
    POSTGRES_PASSWORD: 'superuser',
    HUB_DATABASE_PASSWORD: 'ofhub',
    FLEET_DATABASE_PASSWORD: 'offleet',
    ENCRYPTION_KEYS: 'first:a+b/c=',
    HUB_API_KEY: 'svcc_key',
  };
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
  fs.writeFileSync(path.join(converted, '.env'), lines.join(''));
  const docker = '#!/bin/sh\necho "$@" >> calls\ncase "$*" in *psql*) cat >> calls ;; esac\n';
  fs.writeFileSync(path.join(converted, 'docker'), docker, { mode: 0o755 });
  execFileSync(path.join(repository, 'infra/docker/convert-0.1.0.sh'), {
    cwd: converted,
    env: { PATH: `${converted}:${process.env.PATH}` },
  });

  const names = Object.keys(secrets);
  expect(fs.readdirSync(path.join(converted, 'secrets')).sort()).toEqual(names.sort());
  expect(Object.fromEntries(names.map((name) => [name, secret(name)]))).toMatchObject({
    'postgres-password': 'superuser',
    'hub-owner-password': 'ofhub',
    'hub-migration-database-url': 'postgresql://hub:ofhub@hub-database:5432/hub',
    'fleet-owner-password': 'offleet',
    'fleet-migration-database-url': 'postgresql://fleet:offleet@fleet-database:5432/fleet',
    'fleet-encryption-keys': 'first:a+b/c=',
    'fleet-hub-api-key': 'svcc_key',
    'fleet-temporary-admin-password': '',
  });
  const calls = fs.readFileSync(path.join(converted, 'calls'), 'utf8');
  for (const service of ['hub', 'fleet']) {
    const password = secret(`${service}-service-password`);
    expect(secret(`${service}-database-url`)).toContain(`//${service}_service:${password}@`);
    expect(calls).toContain(`CREATE ROLE ${service}_service LOGIN PASSWORD '${password}';`);
    expect(calls).toContain(`GRANT CONNECT ON DATABASE ${service} TO ${service}_service;`);
  }
});

test('create-secrets.sh does not replace secrets', () => {
  const script = path.join(repository, 'infra/docker/create-secrets.sh');
  expect(() => execFileSync(script, [path.join(folder, 'secrets')], { stdio: 'pipe' })).toThrow('File exists');
  expect(fs.statSync(path.join(folder, 'secrets')).mode & 0o777).toBe(0o700);
});

test.each([
  ['hub', hub],
  ['fleet', fleet],
] as const)('each secret of the %s has a file, and each other setting can be set by its name', (name, { schema }) => {
  const { environment, env_file } = serviceOf(name);
  expect(env_file).toEqual([`${name}.env`]);
  expect(serviceOf(`${name}-migration`).env_file).toEqual(env_file);
  const fixed = ['MIGRATE_ON_START']; // the migration is a service of its own
  const byFile = secretNamesOf(schema).filter((secret) => secret !== 'MIGRATION_DATABASE_URL');
  expect(new Set(Object.keys(environment))).toEqual(new Set([...fixed, ...byFile.map((secret) => `${secret}_FILE`)]));
});

test('the services have the memory limits of the charts', () => {
  for (const name of ['hub', 'fleet']) {
    const { resources } = parse(read(`infra/helm/${name}/values.yaml`));
    expect(resources.limits.memory).toBe('1Gi');
    expect(serviceOf(name).mem_limit).toBe('1g');
  }
});

test('the profile local-engine never joins the group of root by default', () => {
  expect(serviceOf('fleet-local-engine').group_add).toEqual(['65532']);
});

test('only the profile local-engine has the socket of an engine', () => {
  const withSocket = Object.entries(services).filter(([, { volumes }]) =>
    volumes.some((volume) => volume.includes('.sock')),
  );
  expect(withSocket.map(([name, { profiles }]) => [name, profiles])).toEqual([
    ['fleet-local-engine', ['local-engine']],
  ]);
});

test('the services have no privileges, and their ports are bound to the loopback interface', () => {
  for (const [name, service] of Object.entries(services)) {
    expect(service.ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    expect(service.pids_limit).toBeGreaterThan(100);
    if (name.endsWith('-database')) continue;
    expect({ name, ...service }).toMatchObject({
      name,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  }
});
