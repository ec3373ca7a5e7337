// Random histories of plans, changes by hand, races and failed commits: the state equals the fold of what was applied. The objects a,
// b and c are deployments, and d is an application.
import { byDepth, LONG_TEST_MS } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { startApplicationWorld } from '../applications/world.ts';
import { plansOf } from './world.ts';

const fleet = await startApplicationWorld({ kept: true });
const { client, operator } = fleet;
const { plan, apply, exported, forget } = plansOf(fleet);

const RUNS = byDepth({ short: 6, full: 60, long: 1000 });

const one = <const T>(...values: T[]) => fc.constantFrom(...values);
const perhaps = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const given = fc.record({
  name: one('a', 'b', 'c', 'd'),
  image: one('one', 'two'),
  replicas: perhaps(one(1, 2, 3)),
  team: perhaps(one('red', 'blue')),
  mode: perhaps(one('fast', 'slow')),
  keeps: fc.boolean(),
});
type Given = typeof given extends fc.Arbitrary<infer G> ? G : never;
const documents = fc.uniqueArray(given, { minLength: 1, maxLength: 4, selector: ({ name }) => name });

const step = fc.oneof(
  fc.record({ kind: one('apply'), documents, prune: fc.boolean() }),
  fc.record({ kind: one('kill'), documents, prune: fc.boolean() }),
  fc.record({ kind: one('race'), documents, others: documents, prune: fc.boolean() }),
  fc.record({ kind: one('change'), name: one('a', 'b', 'd'), replicas: one(1, 4), mode: one('fast', 'hand') }),
  fc.record({ kind: one('delete'), name: one('a', 'c', 'd') }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const isApplication = (name: string) => name === 'd';

const textOf = (all: readonly Given[]): string =>
  all
    .map(({ team, keeps, ...given }) =>
      [
        ...(isApplication(given.name) ? linesOfApplication(given) : linesOfDeployment(given)),
        ...(team === undefined ? [] : [`labels: {team: ${team}}`]),
        ...(keeps ? ['on_removal: keep'] : []),
      ].join('\n'),
    )
    .join('\n---\n');

type Running = Pick<Given, 'name' | 'image' | 'replicas' | 'mode'>;

const linesOfDeployment = ({ name, image, replicas, mode }: Running): string[] => [
  `kind: deployment\nname: ${name}\nspec:\n  image_name: team/${image}\n  env_schema: [{name: MODE}]`,
  ...(replicas === undefined ? [] : [`replicas: ${replicas}`]),
  ...(mode === undefined ? [] : [`env: {MODE: ${mode}}`]),
];

const linesOfApplication = ({ name, image, replicas, mode }: Running): string[] => [
  `kind: application\nname: ${name}\nspec:\n  inputs: [{name: mode, required: false}]\n  parts:`,
  `    - {name: main, image_name: team/${image}, scalable: true, env: [{name: MODE, value: "\${inputs.mode}"}]}`,
  ...(replicas === undefined ? [] : [`replicas: {main: ${replicas}}`]),
  ...(mode === undefined ? [] : [`inputs: {mode: ${mode}}`]),
];

interface State {
  readonly image: string;
  readonly replicas: number;
  readonly team: string | undefined;
  readonly mode: string | undefined;
}

/** What exists, and the documents that were applied last. */
interface Model {
  readonly objects: ReadonlyMap<string, State>;
  readonly applied: ReadonlyMap<string, Given>;
}

/** The state after documents are applied. */
function folded({ objects, applied }: Model, all: readonly Given[], prune: boolean): Model {
  const next = new Map(objects);
  const managed = new Map(applied);
  for (const document of all) {
    const before = objects.get(document.name);
    const previous = applied.get(document.name);
    const value = <M extends 'replicas' | 'team' | 'mode'>(member: M, unset: State[M]) =>
      document[member] ?? (before === undefined || previous?.[member] !== undefined ? unset : before[member]);
    next.set(document.name, {
      image: document.image,
      replicas: value('replicas', 1) ?? 1,
      team: value('team', undefined),
      mode: value('mode', undefined),
    });
    managed.set(document.name, document);
  }
  if (!prune) return { objects: next, applied: managed };
  for (const [name, document] of applied) {
    if (all.some((each) => each.name === name)) continue;
    managed.delete(name);
    if (!document.keeps) next.delete(name);
  }
  return { objects: next, applied: managed };
}

async function present(): Promise<Map<string, State>> {
  const rows = await client.deployment.findMany({ include: { application: true } });
  const found = new Map<string, State>();
  for (const { workload_id, revision, env, replicas, name, application, ...row } of rows) {
    const where = { workload_id_revision: { workload_id, revision } };
    const { spec } = await client.workloadRevision.findUniqueOrThrow({ where });
    const { image_name, env: fixed } = Object(spec);
    const modes = [Object(env).MODE, fixed.find((variable: { name: string }) => variable.name === 'MODE')?.value];
    found.set(application?.name ?? name, {
      image: String(image_name).replace('team/', ''),
      replicas,
      team: Object((application ?? row).labels).team,
      mode: modes.find((mode) => mode),
    });
  }
  return found;
}

const inOrder = (objects: ReadonlyMap<string, State>) =>
  Object.fromEntries([...objects].sort(([a], [b]) => (a < b ? -1 : 1)));

/** A commit that fails after everything was stored, as when the process is killed. */
async function killed(work: () => Promise<unknown>): Promise<void> {
  await client.$executeRaw`
    CREATE FUNCTION refuse_entries() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no entries now'; END $$`;
  await client.$executeRaw`CREATE TRIGGER refuse_entries BEFORE INSERT ON audit_entries EXECUTE FUNCTION refuse_entries()`;
  await work();
  await client.$executeRaw`DROP FUNCTION refuse_entries CASCADE`;
}

async function perform(each: Step, model: Model): Promise<Model> {
  if (each.kind === 'apply' || each.kind === 'kill') {
    const made = await plan(textOf(each.documents), { prune: each.prune });
    const listed = made.changes.length;
    if (each.kind === 'apply') {
      const before = await client.auditEntry.count();
      expect((await apply(made)).status).toBe(200);
      expect(await client.auditEntry.count()).toBe(before + 1);
      return folded(model, each.documents, each.prune);
    }
    await killed(async () => expect((await apply(made)).status).toBe(503));
    expect((await plan(textOf(each.documents), { prune: each.prune })).changes).toHaveLength(listed);
    return model;
  }
  if (each.kind === 'race') {
    const plans = [await plan(textOf(each.documents), { prune: each.prune }), await plan(textOf(each.others))];
    const [first, second] = await Promise.all(plans.map(apply));
    const isFirst = first?.status === 200;
    const isSecond = second?.status === 200;
    expect([first?.status, second?.status].every((status) => status === 200 || status === 409)).toBe(true);
    expect(isFirst || isSecond).toBe(true);
    const one = (from: Model) => (isFirst ? folded(from, each.documents, each.prune) : from);
    const other = (from: Model) => (isSecond ? folded(from, each.others, false) : from);
    const [orderly, reverse] = [other(one(model)), one(other(model))];
    const now = inOrder(await present());
    const isOrderly = JSON.stringify(now) === JSON.stringify(inOrder(orderly.objects));
    return isOrderly ? orderly : reverse;
  }
  const where = { where: { name: each.name } };
  const row = isApplication(each.name)
    ? await client.application.findUnique(where)
    : await client.deployment.findUnique(where);
  if (!row) return model;
  const path = `/api/v1/${isApplication(each.name) ? 'applications' : 'deployments'}/${row.id}`;
  const objects = new Map(model.objects);
  const before = objects.get(each.name);
  if (each.kind === 'delete') {
    expect((await operator.delete(path)).status).toBe(200);
    objects.delete(each.name);
    const applied = new Map(model.applied);
    applied.delete(each.name);
    return { objects, applied };
  }
  const { replicas, mode } = each;
  const change = isApplication(each.name)
    ? { replicas: { main: replicas }, inputs: { mode } }
    : { replicas, env: { MODE: mode } };
  expect((await operator.put(path, change)).status).toBe(200);
  if (before) objects.set(each.name, { ...before, replicas, mode });
  return { ...model, objects };
}

test(
  'the state equals the fold of the applied plans, and the plan of an export is unchanged',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
        await client.$executeRaw`TRUNCATE hosts, workloads, applications, deployments, volumes CASCADE`;
        await forget();
        await fleet.aHost();
        let model: Model = { objects: new Map(), applied: new Map() };
        for (const [index, each] of steps.entries()) {
          model = await perform(each, model);
          expect({ steps, index, objects: inOrder(await present()) }).toEqual({
            steps,
            index,
            objects: inOrder(model.objects),
          });
          await client.$executeRaw`DELETE FROM plans WHERE state <> 'applied'`;
        }
        if (model.objects.size > 0) expect((await plan(await exported())).state).toBe('unchanged');
      }),
      seeded({ numRuns: RUNS }),
    );
  },
  LONG_TEST_MS,
);
