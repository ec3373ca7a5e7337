// Random applications: a creation does what its plan states, in an order in which no part starts before those that it needs.
import { byDepth, LONG_TEST_MS } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { receivedBy } from '../deployments/values/variables.ts';
import { startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld();
const { client } = fleet;

const RUNS = byDepth({ short: 6, full: 100, long: 1000 });

const NAMES = ['a', 'b', 'c', 'd'] as const;
const one = <const T>(...values: T[]) => fc.constantFrom(...values);

/** A part can need those before it, and have the addresses of those before it. */
const part = fc.record({
  needs: fc.array(fc.record({ back: one(1, 2, 3), until: one('started', 'ready') }), { maxLength: 2 }),
  addresses: fc.array(one(1, 2, 3), { maxLength: 2 }),
  cpu_request: one('1', '3'),
  hasPort: fc.boolean(),
  isShared: fc.boolean(),
  override: one(undefined, '1', '3'),
});
const application = fc.record({
  parts: fc.array(part, { minLength: 1, maxLength: NAMES.length }),
  isReversed: fc.boolean(),
  cpus: one(2, 64),
});
type Given = typeof application extends fc.Arbitrary<infer T> ? T : never;

function specOf({ parts, isReversed }: Given) {
  const portOf = (index: number) => parts[index]?.hasPort === true;
  const written = parts.map(({ needs, addresses, cpu_request, hasPort, isShared }, index) => {
    const before = (back: number) => (index - back >= 0 ? [index - back] : []);
    const needed = new Map(
      needs.flatMap(({ back, until }) => before(back).map((position) => [NAMES[position], until])),
    );
    const addressed = [...new Set(addresses.flatMap(before))].filter(portOf);
    return {
      name: NAMES[index] ?? '',
      image_name: 'team/app',
      cpu_request,
      needs: [...needed].map(([name, until]) => ({ part: name ?? '', until })),
      ports: hasPort ? [{ containerPort: 80, publish: true }] : [],
      volume_mounts: isShared ? [{ name: 'files', mountPath: '/files', shared: true }] : [],
      env: [
        { name: 'PASSWORD', value: `\${generated.password}` },
        ...(hasPort ? [{ name: 'OWN', value: `\${self.url.80}` }] : []),
        ...addressed.map((position) => ({
          name: `ADDRESS_${position}`,
          value: `x://\${generated.password|url}@\${parts.${NAMES[position]}.address.80}`,
        })),
      ],
    };
  });
  return { generated: [{ name: 'password' }], parts: isReversed ? written.toReversed() : written };
}

/** What is set for some parts instead of what the specification says. */
const overridesOf = ({ parts }: Given) =>
  Object.fromEntries(
    parts.flatMap(({ override: cpu_request }, index) =>
      cpu_request === undefined ? [] : [[NAMES[index] ?? '', { cpu_request, image_tag: '9', env: { EXTRA: 'set' } }]],
    ),
  );

/** A busy machine can end a transaction, which then has stored nothing. */
async function createdOnce(body: object) {
  const answer = await fleet.createApplication({ ...body });
  return answer.status === 503 ? fleet.createApplication({ ...body }) : answer;
}

interface Part {
  readonly name: string;
  readonly deployment_id: string;
}

/** Starts the parts as workers do, and checks before each that what it needs has been reached. */
async function startAll(id: string, spec: ReturnType<typeof specOf>) {
  const parts: Part[] = (await fleet.application(id)).parts;
  const nameOf = new Map(parts.map(({ name }) => [`random-${name}`, name]));
  const started = new Set<string>();
  const ready = new Set<string>();
  const isReached = ({ part: name, until }: { part: string; until: string }) =>
    until === 'ready' ? ready.has(name) : started.has(name);
  while (ready.size < parts.length) {
    const claimable = (await fleet.claimable()).flatMap((deployment) => nameOf.get(deployment) ?? []);
    const expected = spec.parts.filter(({ needs }) => needs.every(isReached)).map(({ name }) => name);
    expect(claimable.toSorted()).toEqual(expected.toSorted());
    const next = claimable.find((name) => !ready.has(name)) ?? '';
    if (started.has(next)) {
      await fleet.runs(id, next);
      ready.add(next);
    } else {
      await fleet.starts(id, next);
      started.add(next);
    }
  }
  return parts;
}

test(
  'a creation does what its plan states, and no part starts before those that it needs or without an address',
  async () => {
    let created = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(application, async (given) => {
        await client.$executeRaw`TRUNCATE hosts, deployments, applications, workloads, volumes CASCADE`;
        await fleet.aMeshHost({ cpus: given.cpus });
        const spec = specOf(given);
        const overrides = overridesOf(given);
        const { body: plan } = await fleet.planApplication({ name: 'random', spec, overrides });
        const answer = await createdOnce({ name: 'random', spec, overrides, expected: plan.digest });
        expect({ spec, status: answer.status }).toEqual({ spec, status: plan.ok ? 201 : 422 });
        if (!plan.ok) {
          refused += 1;
          expect(await client.deployment.count()).toBe(0);
          return;
        }
        created += 1;
        const { application: stored, generated } = answer.body;
        expect(stored.target).toEqual(plan.placement.target);
        for (const { name, image } of stored.parts) expect(image.endsWith(':9')).toBe(Object.hasOwn(overrides, name));
        const parts = await startAll(stored.id, spec);
        const inNetwork = (await client.networkAddress.findMany()).map(({ address }) => address.split('/')[0]);
        expect(new Set(inNetwork).size).toBe(parts.length);
        for (const { name, deployment_id } of parts) {
          const { env } = await receivedBy(fleet, deployment_id);
          const declared = spec.parts.find((each) => each.name === name)?.env ?? [];
          expect(Object.keys(env)).toEqual(expect.arrayContaining(declared.map((variable) => variable.name)));
          expect(env.PASSWORD).toBe(generated[0].value);
          expect(env.EXTRA).toBe(Object.hasOwn(overrides, name) ? 'set' : undefined);
          for (const [variable, value] of Object.entries(env))
            if (variable.startsWith('ADDRESS'))
              expect(inNetwork).toContain(/^x:\/\/[^@]{32}@([\d.]+):\d+$/.exec(value)?.[1]);
          if (env.OWN !== undefined) expect(env.OWN).toMatch(/^http:\/\/10\.1\.2\.3:\d+$/);
        }
        const ports = await client.allocatedPort.findMany();
        expect(new Set(ports.map(({ host_port }) => host_port)).size).toBe(ports.length);
      }),
      seeded({ numRuns: RUNS }),
    );
    expect(created).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  },
  LONG_TEST_MS,
);
