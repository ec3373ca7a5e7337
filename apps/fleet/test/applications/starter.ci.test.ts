// The applications of the starter catalog, planned in a fleet with generated inputs.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { applicationInFile, type Part } from '@svc/contract';
import { seed } from '@svc/testing';
import { parse } from 'yaml';
import { anApplication } from '../an-application.ts';
import { randomFrom } from '../random.ts';
import { startApplicationWorld } from './world.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../../infra/catalog/applications');
const UNUSED_ID = '00000000-0000-4000-8000-000000000000';

const fleet = await startApplicationWorld();
const { below, isOneIn, oneOf } = randomFrom(seed);

const applications = readdirSync(FOLDER).map((file) => {
  const { category: _, ...given } = parse(readFileSync(path.join(FOLDER, file), 'utf8'));
  const { inputs, generated, parts, name, slug } = applicationInFile.parse({ ...given, category_id: UNUSED_ID });
  // A reply has the members that a file leaves out.
  return anApplication(JSON.parse(JSON.stringify({ name, slug, inputs, generated, parts })));
});

beforeEach(async () => {
  await fleet.aHost({
    network_types: ['mesh', 'public'],
    addresses: { mesh: '10.1.2.3', public: '192.0.2.1' },
    gpuCount: 1,
  });
  await fleet.aSecret('given', { key: 'value' });
  fleet.hub.publishApplications(...applications);
  await fleet.sync();
});

type Input = (typeof applications)[number]['inputs'][number];

/** A value of an input. It is left out if it has a default. */
function valueFor({ type, choices, default: value }: Input): unknown {
  if (value !== null && isOneIn(2)) return undefined;
  switch (type) {
    case 'secret':
      return { secret: 'given', key: 'key' };
    case 'number':
      return below(1000);
    case 'boolean':
      return isOneIn(2);
    case 'choice':
      return oneOf(choices);
    default:
      return oneOf(['https://example.test/a?b=1', 'with spaces, "quotes" and $dollars', 'ü', 'x'.repeat(200)]);
  }
}

interface Container {
  readonly kind: string;
  readonly body: {
    readonly Env: readonly string[];
    readonly HostConfig: { readonly Mounts: readonly unknown[]; readonly ExtraHosts: readonly string[] };
  };
}

/** The names of variables that the program of a part reads. */
const variablesOf = ({ env }: Part) => env.map(({ name }) => name).filter((name) => !name.startsWith('SVC_'));

test.each(applications.map((application) => [application.slug, application] as const))(
  'the plan of %s is possible, and each part has what it needs',
  async (slug, { inputs, generated, parts }) => {
    const given = Object.fromEntries(inputs.map((input) => [input.name, valueFor(input)]));
    const body = { name: 'starter', application: slug, inputs: given };
    const { body: plan } = await fleet.operator.post('/api/v1/applications/plan', body);
    expect({ ok: plan.ok, refusals: plan.refusals }).toEqual({ ok: true, refusals: [] });
    expect(plan.generated.sort()).toEqual(generated.map(({ name }) => name).sort());
    const names: string[] = plan.parts.map(({ name }: { name: string }) => name);
    expect(names.toSorted()).toEqual(parts.map(({ name }) => name).sort());
    for (const part of parts) {
      const planned = plan.parts[names.indexOf(part.name)];
      const { body: container } = planned.manifest.find(({ kind }: Container) => kind === 'Container') as Container;
      for (const need of part.needs) expect(names.indexOf(need.part)).toBeLessThan(names.indexOf(part.name));
      expect(container.HostConfig.ExtraHosts.map((entry) => entry.split(':')[0])).toEqual(names.toSorted());
      const variables = container.Env.map((entry) => entry.slice(0, entry.indexOf('=')));
      expect(variables).toEqual(expect.arrayContaining(variablesOf(part)));
      expect(container.Env.filter((entry) => entry.includes('${'))).toEqual([]);
      expect(container.HostConfig.Mounts).toHaveLength(part.volume_mounts.length);
      for (const { address } of planned.bindings) expect(address).not.toBeNull();
    }
    const { status } = await fleet.operator.post('/api/v1/applications', { ...body, expected: plan.digest });
    expect(status).toBe(201);
  },
);
