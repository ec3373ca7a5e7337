import { type WorkloadSpec, workloadDefaults, workloadFields } from '@svc/contract/fleet';
import fc from 'fast-check';
import { z } from 'zod';
import { CURRENT_DEFAULTS } from '../../src/render/defaults.ts';
import { resolveEnv } from '../../src/render/env.ts';
import type { BoundVolume, Rendering } from '../../src/render/rendering.ts';
import { specProblems } from '../../src/render/spec-problems.ts';
import { aRendering } from './renderings.ts';

const contract = z.object(workloadFields);

const dnsLabel = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,62}$/);
const variable = fc.oneof(
  fc.constantFrom('A', 'B', 'PATH', 'constructor'),
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,20}$/),
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{250,255}$/),
);
const text = fc.oneof(
  fc.constantFrom('', '$(A)', '$$', '$', '$A', 'ü\n=', '-'),
  fc.stringMatching(/^[\t\n -~À-ÿ]{0,30}$/),
);
const quantity = fc.oneof(
  fc.constantFrom('', '0', '0.0', '.5', '1.', '100n', '1e60', '1e-60', '0.3Gi', '999999999999999999999'),
  fc.stringMatching(/^\d{1,4}(?:\.\d{1,3})?(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d)?$/),
);
/** A path in normal form, often in or around another one. */
const path = fc.oneof(fc.constantFrom('/a', '/a/b', '/a/b/c'), fc.stringMatching(/^(?:\/[\w-]{1,9}){1,3}$/));
const list = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 5 });
const absent = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: undefined });
const labels = fc.dictionary(fc.stringMatching(/^(?:[a-z0-9]{1,9}\.[a-z0-9]{1,9}\/)?[A-Za-z0-9]{1,63}$/), dnsLabel, {
  maxKeys: 3,
});

const specMembers = fc.record({
  kind: fc.constantFrom('service', 'job', 'notebook'),
  image_name: fc.stringMatching(/^[a-z0-9]{1,9}(?:[._/-][a-z0-9]{1,9}){0,3}$/),
  image_tag: fc.oneof(fc.constant('latest'), fc.stringMatching(/^\w[\w.-]{0,127}$/)),
  registry_url: fc.constantFrom(null, 'ghcr.io', 'docker.io', 'localhost:5000/a/b', 'R.example.com/team'),
  registry_credentials: fc.option(dnsLabel),
  command: list(text),
  entrypoint: list(text),
  working_dir: fc.constantFrom(null, '/', '/srv/with space'),
  env: list(fc.record({ name: variable, value: text })),
  env_schema: list(fc.record({ name: variable, required: fc.boolean(), default_value: text, description: text })),
  secret_refs: list(fc.record({ name: dnsLabel, key: absent(fc.stringMatching(/^[\w.-]{1,253}$/)), env: variable })),
  ports: list(
    fc.record({
      containerPort: fc.integer({ min: 1, max: 65_535 }),
      protocol: fc.constantFrom('TCP', 'udp', 'Sctp', 'tcp'),
    }),
  ),
  volume_mounts: list(
    fc.record({
      name: fc.oneof(fc.constantFrom('a', 'b'), dnsLabel),
      mountPath: fc.stringMatching(/^(?:\/[\w. -]{1,9}){1,3}$/),
      read_only: absent(fc.boolean()),
    }),
  ),
  tmpfs: list(fc.record({ path, size: fc.constantFrom('1Mi', '64Mi', '2Gi') })),
  files: list(fc.record({ path, content: text, mode: fc.constantFrom('0444', '0555') })),
  read_only_root: fc.boolean(),
  cpu_request: quantity,
  memory_request: quantity,
  gpu_count: fc.integer({ min: 0, max: 4 }),
  vram_request: quantity,
  cpu_limit: quantity,
  memory_limit: quantity,
  start_period_seconds: fc.integer({ min: 0, max: 1800 }),
  restart_unhealthy: fc.boolean(),
  security_profile: fc.constantFrom('baseline', 'restricted'),
  run_as: fc.constantFrom(null, '0', '1000', '1000:0', '1999999999:1999999999'),
  service_account_token: fc.boolean(),
  concurrent_jobs: fc.integer({ min: 1, max: 1_000_000 }),
  node_selector: labels,
  tolerations: list(
    fc.record({
      key: absent(dnsLabel),
      operator: absent(fc.constantFrom('Exists', 'Equal')),
      value: absent(dnsLabel),
      effect: absent(fc.constantFrom('NoSchedule', 'PreferNoSchedule', 'NoExecute')),
      tolerationSeconds: absent(fc.nat()),
    }),
  ),
  required_network_types: list(word),
});

/** A workload that the contract accepts. An engine may reject it. */
export const anySpec: fc.Arbitrary<WorkloadSpec> = specMembers.map((spec) =>
  contract.parse({ ...workloadDefaults, ...spec }),
);

/** Removes from a spec what engines reject, so that most generated workloads can be rendered. */
function mended(spec: WorkloadSpec): WorkloadSpec {
  const wrong = new Set(specProblems(spec).map(({ path }) => path.split('.').slice(0, 2).join('.')));
  const right = <T>(items: readonly T[], member: string): T[] =>
    items.filter((_, index) => !wrong.has(`${member}.${index}`));
  return {
    ...spec,
    volume_mounts: right(spec.volume_mounts, 'volume_mounts'),
    tmpfs: wrong.has('tmpfs') ? [] : right(spec.tmpfs, 'tmpfs'),
    files: right(spec.files, 'files'),
    secret_refs: right(spec.secret_refs, 'secret_refs'),
    tolerations: right(spec.tolerations, 'tolerations'),
    cpu_limit: wrong.has('cpu_limit') ? '' : spec.cpu_limit,
    memory_limit: wrong.has('memory_limit') ? '' : spec.memory_limit,
    run_as: wrong.has('run_as') ? null : spec.run_as,
  };
}

const volume = fc.record({
  id: fc.uuid(),
  name: dnsLabel,
  size: fc.constantFrom('10Gi', '0.3Gi', '1e9'),
  access_mode: fc.constantFrom('ReadWriteOnce', 'ReadWriteMany', 'ReadOnlyMany'),
  storage_class: fc.constantFrom(null, '', 'fast'),
}) satisfies fc.Arbitrary<Omit<BoundVolume, 'mount'>>;

const circumstances = fc.record({
  id: fc.uuid(),
  name: dnsLabel,
  generation: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  replicas: fc.integer({ min: 0, max: 3 }),
  restarted_at: fc.constantFrom(null, '2026-01-02T03:04:05.678Z'),
  defaults: fc.integer({ min: 1, max: CURRENT_DEFAULTS }),
  application: fc.option(fc.record({ id: fc.uuid(), part: dnsLabel.filter((name) => name.length <= 40) })),
  admission: fc.record({
    published: fc.array(fc.constantFrom('53/udp', '80/tcp', '8080/tcp')),
    bound: fc.array(fc.record({ deployment: fc.uuid(), port: fc.constantFrom(53, 80, 8080) })),
  }),
  defaultLimits: fc.record({ memory_bytes: fc.constantFrom(null, 2 ** 26), processes: fc.constantFrom(null, 100) }),
  // Unique, as in the database.
  volumes: fc.uniqueArray(volume, { minLength: 5, maxLength: 5, selector: ({ name }) => name }),
  value: text,
});

/** A deployment of a workload that engines accept, with resolved variables and bound volumes. */
export const anyRendering: fc.Arbitrary<Rendering<'values'>> = fc
  .tuple(anySpec.map(mended), circumstances)
  .filter(([spec]) => specProblems(spec).length === 0)
  .map(([spec, { volumes, value, ...given }]) => {
    const asked = new Set(spec.secret_refs.map(({ env }) => env));
    const open = spec.env_schema.filter(({ name }) => !asked.has(name));
    const mounts = [...new Set(spec.volume_mounts.map(({ name }) => name))];
    return aRendering(spec, {
      ...given,
      env: resolveEnv(spec, Object.fromEntries(open.map(({ name }) => [name, value]))).env,
      volumes: volumes.slice(0, mounts.length).map((bound, index) => ({ ...bound, mount: mounts[index] ?? '' })),
    });
  });
