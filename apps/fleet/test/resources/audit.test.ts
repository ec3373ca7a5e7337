// Changes of resources are in the audit log exactly once, or are not made.
import type { Api } from '@svc/testing';
import { kindsIn } from './kinds.ts';
import { pathOf, singulars, startResources } from './resources.ts';

const world = await startResources();
const { aName, client } = world;
const kinds = await kindsIn(world);
const person = await world.aUser('admin');
const onlooker = await world.aUser('viewer');
const asPerson = await person.api();
const asOnlooker = await onlooker.api();
const token = await world.aToken({ role: 'admin', name: 'the agent' });
afterAll(() => world.stop());

interface Made {
  readonly id: string;
  readonly name: string;
}

/** The entries that an operation adds, oldest first. */
async function entriesOf(work: () => Promise<unknown>) {
  const before = await client.auditEntry.findMany({ select: { id: true } });
  await work();
  const added = await client.auditEntry.findMany({
    where: { id: { notIn: before.map(({ id }) => id) } },
    orderBy: [{ at: 'asc' }, { id: 'asc' }],
  });
  return added.map(({ actor, user_id, token_id, method, path, status }) => ({
    who: [actor, user_id, token_id],
    what: `${method} ${path} ${status}`,
  }));
}

/** Runs an operation while no entry can be stored. */
async function unrecorded<T>(work: () => Promise<T>): Promise<T> {
  await client.$executeRaw`ALTER TABLE audit_entries RENAME TO audit_entries_away`;
  try {
    return await work();
  } finally {
    await client.$executeRaw`ALTER TABLE audit_entries_away RENAME TO audit_entries`;
  }
}

describe.each(kinds)('audit of $plural:', ({ plural, members, change, deleted }) => {
  const path = pathOf(plural);
  const make = async (as: Api): Promise<Made> => {
    const { body } = await as.post(path, { name: aName('audited'), ...members });
    return body[singulars[plural]];
  };
  const changes = async (as: Api) => {
    const { id } = await make(as);
    await as.put(pathOf(plural, id), change);
    await as.delete(pathOf(plural, id));
    return pathOf(plural, id);
  };
  /** One request for each kind of rejection. */
  const refusals = async (as: Api, { id, name }: Made) => {
    const own = pathOf(plural, id);
    const answers = [
      await as.post(path, { name, ...members }),
      await as.post(path, { name: 'Not A Label', ...members }),
      await as.put(own, { unknown: 1 }),
      await as.put(own, { name: `${name}-x` }),
      await as.put(own, change, { 'If-Match': '"99"' }),
      await as.delete(own, undefined, { 'If-Match': '"99"' }),
      await as.put(pathOf(plural, 'nothing'), change),
      await as.delete(pathOf(plural, 'nothing')),
    ];
    return answers.map(({ status }) => status);
  };

  test.each([
    ['a person', () => asPerson, () => [person.email, person.id, null]],
    ['a token', () => world.as(token), () => ['token:the agent', null, token.id]],
  ])('each change by %s has one entry', async (_, as, who) => {
    let own = '';
    const entries = await entriesOf(async () => {
      own = await changes(as());
    });
    expect(entries).toEqual([
      { who: who(), what: `POST ${path} 201` },
      { who: who(), what: `PUT ${own} 200` },
      { who: who(), what: `DELETE ${own} ${deleted}` },
    ]);
  });

  test('a resource shows who created it', async () => {
    const makers = [asPerson, world.as(token), await world.asTemporaryAdmin()];
    const made = await Promise.all(makers.map(async (as) => world.read(plural, (await make(as)).id)));
    expect(made.map(({ created_by }) => created_by)).toEqual([person.email, 'token:the agent', 'temporary-admin']);
  });

  test('a rejected change of a person has no entry, and one of a token has one entry', async () => {
    const made = await make(asPerson);
    let statuses: readonly number[] = [];
    const none = await entriesOf(async () => {
      statuses = await refusals(asPerson, made);
      expect((await asOnlooker.delete(pathOf(plural, made.id))).status).toBe(403);
    });
    expect(statuses).toEqual([409, 400, 400, 400, 412, 412, 404, 404]);
    expect(none).toEqual([]);
    const each = await entriesOf(() => refusals(world.as(token), made));
    expect(each.map(({ what }) => Number(what.split(' ')[2]))).toEqual(statuses);
  });

  test('a change that cannot be recorded is not made', async () => {
    const { id } = await make(asPerson);
    const before = await world.read(plural, id);
    const name = aName('unrecorded');
    const answers = await unrecorded(async () => [
      await asPerson.post(path, { name, ...members }),
      await asPerson.put(pathOf(plural, id), change),
      await asPerson.delete(pathOf(plural, id)),
    ]);
    for (const { status, body, headers } of answers) {
      expect(status).toBe(503);
      expect(body.code).toBe('unavailable');
      expect(headers['retry-after']).toBe('1');
    }
    expect(await world.read(plural, id)).toEqual(before);
    expect((await asPerson.get(`${path}?search=${name}`)).body[plural]).toEqual([]);
  });
});

test('a secret whose change cannot be recorded keeps its values, and restarts nothing', async () => {
  const host = await world.aRoomyHost();
  const secret = await world.aSecret();
  const refs = [{ name: secret.name, env: 'PASSWORD' }];
  const { id: workload_id } = await world.aWorkload({ secret_refs: refs });
  const deployment = await world.aDeployment({ workload_id, target: { host_id: host.id } });
  const rowsOf = async () => [
    await client.secret.findUnique({ where: { id: secret.id } }),
    await client.deployment.findUnique({ where: { id: deployment.id } }),
    await client.deploymentEvent.findMany({ where: { deployment_id: deployment.id } }),
  ];
  const before = await rowsOf();
  const rotate = () => asPerson.put(pathOf('secrets', secret.id), { values: { password: 'new' } });
  expect((await unrecorded(rotate)).status).toBe(503);
  expect(await rowsOf()).toEqual(before);
  expect((await rotate()).status).toBe(200);
  expect(await rowsOf()).not.toEqual(before);
});
