// Ten converted applications, chosen by a seed, from their plan to their deletion on a simulated engine. By default they are files of
// this repository. Complete lists, which are not part of it, are given as the arguments of packages/convert/corpus.mjs:
//
//   TEST_LISTS='coolify=<folder> caprover=<folder> portainer=<file> compose=<folder> --stacks <folder> --with-files'
import { eventually, LONG_TEST_MS } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { aSimulatedHost } from '../reconciler/simulated-host.ts';
import { type Converted, converted, type Input, type Part } from './converted.ts';
import { startApplicationWorld } from './world.ts';

const CHOSEN = 10;
const own = ['coolify', 'caprover'].map((kind) => `${kind}=packages/convert/test/samples/${kind}`);
const lists = process.env.TEST_LISTS?.split(' ') ?? own;

const least = lists === own ? 1 : 2;
const found = (await converted(lists)).filter(({ application }) => (application?.parts.length ?? 0) >= least);
const [chosen = []] = fc.sample(
  fc.shuffledSubarray(found, { minLength: CHOSEN, maxLength: CHOSEN }),
  seeded({ numRuns: 1 }),
);

const fleet = await startApplicationWorld({ kept: true });
const { client, operator } = fleet;
const { engineRuntime } = fleet.world.services;
const engine = await aSimulatedHost({ jobsEnd: true });
await fleet.aMeshHost({
  endpoint: engine.endpoint,
  labels: Object.assign(
    {},
    ...chosen.flatMap(({ application }) => application?.parts.map((part) => part.node_selector) ?? []),
  ),
});
engineRuntime.start();
afterAll(async () => {
  await engineRuntime.stop();
  await engine.stop();
});

await fleet.aSecret('given', { value: 'c4n4ry-of-a-secret' });

/** A value for each input that a person must give. */
const inputsOf = (inputs: readonly Input[]) =>
  Object.fromEntries(
    inputs
      .filter((input) => input.required && input.default === undefined)
      .map(({ name, type, choices }) => [
        name,
        type === 'secret' ? { secret: 'given', key: 'value' } : (choices?.[0] ?? 'given'),
      ]),
  );

/** Makes a generation good when all its parts run, instead of ten seconds later. */
const withoutDelay = (id: string) =>
  client.$executeRaw`
    UPDATE deployments SET updates = '{"ready_seconds": 0, "on_failure": "stop"}'::jsonb WHERE application_id = ${id}::uuid`;

const ends = (id: string, expected: { readonly generation: number; readonly outcome: string }) =>
  eventually(`the application ends as ${JSON.stringify(expected)}`, () => fleet.application(id), {
    until: ({ generation, outcome, phase }) =>
      generation === expected.generation && outcome === expected.outcome && ['running', 'completed'].includes(phase),
    withinMs: 60_000,
  });

const imagesOf = (application: { parts: { name: string; image: string }[] }) =>
  application.parts.map(({ name, image }) => `${name} ${image}`).sort();

const answered = async (asked: ReturnType<typeof operator.post>) => {
  const { status, body, text } = await asked;
  if (status >= 300) throw new Error(`response ${status}: ${text}`);
  return body;
};

test(
  'a converted application is planned, deployed, ready, returned from a broken image, rolled back and deleted',
  async () => {
    expect(chosen).toHaveLength(CHOSEN);
    await Promise.all(
      chosen.map(({ application, ...source }, index) => lives(`converted-${index}`, source, application)),
    );
    expect(await client.deployment.count()).toBe(0);
  },
  LONG_TEST_MS,
);

async function lives(name: string, source: object, application: Converted['application']) {
  if (application === undefined) throw new Error('it has no application');
  const { generated = [], parts } = application;
  const spec = { inputs: application.inputs, generated, parts };
  const inputs = inputsOf(application.inputs);
  const plan = await answered(operator.post('/api/v1/applications/plan', { name, spec, inputs }));
  expect({ ...source, ok: plan.ok, refusals: plan.refusals }).toEqual({ ...source, ok: true, refusals: [] });
  const { id } = (
    await answered(
      operator.post('/api/v1/applications', { name, spec, inputs, expected: plan.digest, on_failure: 'roll_back' }),
    )
  ).application;
  await withoutDelay(id);
  const good = await ends(id, { generation: 1, outcome: 'good' });
  expect(imagesOf(good)).toEqual(imagesOf(plan));

  // The last part to start: the others run when its image turns out to be broken.
  const broken = plan.parts.at(-1).name;
  const withTag = (image_tag: string) => ({
    ...spec,
    parts: parts.map(({ image_digest, ...part }: Part & { image_digest?: string }) =>
      part.name === broken ? { ...part, image_tag } : { ...part, ...(image_digest && { image_digest }) },
    ),
  });
  await answered(operator.put(`/api/v1/applications/${id}`, { spec: withTag('missing') }));
  const returned = await ends(id, { generation: 3, outcome: 'good' });
  expect({ failed: returned.failed_generation, images: imagesOf(returned) }).toEqual({
    failed: 2,
    images: imagesOf(good),
  });

  await answered(operator.put(`/api/v1/applications/${id}`, { spec: withTag('next') }));
  const updated = await ends(id, { generation: 4, outcome: 'good' });
  expect(updated.parts.find((part: Part) => part.name === broken).image).toMatch(/:next$/);
  await answered(operator.post(`/api/v1/applications/${id}/rollback`, {}));
  expect(imagesOf(await ends(id, { generation: 5, outcome: 'good' }))).toEqual(imagesOf(good));

  const ids: string[] = good.parts.map(({ deployment_id }: { deployment_id: string }) => deployment_id);
  await answered(operator.delete(`/api/v1/applications/${id}`));
  await eventually('the application is gone', async () => (await client.application.count({ where: { id } })) === 0);
  for (const deployment of ids) {
    const left = (await engine.creationsOf(deployment)).filter(({ removedAt }) => removedAt === null);
    expect({ ...source, left }).toEqual({ ...source, left: [] });
  }
}
