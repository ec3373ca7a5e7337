// The filters, sort fields and pages of all lists, compared with an oracle over the complete lists.
import type { Endpoint } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { byDepth, seed } from '@svc/testing';
import { z } from 'zod';
import { randomFrom } from '../../random.ts';
import { PROVIDER } from '../../world.ts';
import { invalidPathsOf, type Shown, startResources } from '../resources.ts';
import { fillLists } from './list-rows.ts';

const ROWS = 30;
const QUERIES = byDepth({ short: 8, full: 150, long: 1000 });

const random = randomFrom(seed);
const { below, isOneIn, oneOf, some } = random;
const world = await startResources({ oidc: { issuer: PROVIDER, role_map: { crew: 'operator', chief: 'admin' } } });
afterAll(() => world.stop());
await fillLists(world, random, ROWS);
// A token would record its use, by which the list of tokens is sorted.
const caller = await world.asTemporaryAdmin();

/** Whether a row matches a value of a filter. */
type Matches = (row: Shown, value: string) => boolean;

const isEqual =
  (member: string): Matches =>
  (row, value) =>
    row[member] === value;
const isAmong =
  (read: (row: Shown) => unknown): Matches =>
  (row, value) =>
    value.split(',').some((one) => one.toLowerCase() === String(read(row)).toLowerCase());
const hasMember = (member: string) => isAmong((row) => row[member]);
const contains: Matches = (row, value) => value.split(',').some((one) => row.network_types.includes(one));
const hasLabels: Matches = ({ labels }, value) =>
  value.split(',').every((part) => {
    const [key = '', wanted] = part.split('=');
    return key in labels && (wanted === undefined || labels[key] === wanted);
  });

const ofResources = {
  search: (row: Shown, value: string) => row.name.includes(value.toLowerCase()),
  label: hasLabels,
  name: hasMember('name'),
  created_by: isEqual('created_by'),
};
const onTarget = {
  host_id: isAmong(({ target }) => target?.host_id),
  cluster_id: isAmong(({ target }) => target?.cluster_id),
};
/** The reachability of each host and cluster. */
const reachabilities = new Map<string, string>();
const reachabilityOf = ({ target }: Shown) => reachabilities.get(target?.host_id ?? target?.cluster_id);
const severities = ['note', 'warning', 'critical'];
const ofTemplate = {
  template: hasMember('template_slug'),
  template_id: hasMember('template_id'),
  template_state: hasMember('template_state'),
  template_status: isAmong(({ advice }) => advice?.status),
  advisory: ({ advice }: Shown, value: string) =>
    (advice?.advisories ?? []).some(({ severity }: Shown) => severities.indexOf(severity) >= severities.indexOf(value)),
};
/** Whether an update is available, or held; undefined without one. */
const updateOf = ({ update }: Shown) => update && (update.held === null ? 'available' : 'held');
const sorts = ['created_at', 'updated_at', 'name'];

interface List {
  readonly filters: Readonly<Record<string, Matches>>;
  readonly sorts: readonly string[];
}

/** The filters and sort fields of each list, stated a second time. */
const lists: Readonly<Record<string, List>> = {
  hosts: {
    filters: {
      ...ofResources,
      engine: hasMember('engine'),
      reachability: hasMember('reachability'),
      schedulable: hasMember('schedulable'),
      cluster_id: hasMember('cluster_id'),
      network_type: contains,
      arch: hasMember('arch'),
    },
    sorts: [...sorts, 'last_seen_at', 'problem'],
  },
  clusters: {
    filters: { ...ofResources, reachability: hasMember('reachability'), network_type: contains },
    sorts: [...sorts, 'last_seen_at', 'problem'],
  },
  workloads: { filters: { ...ofResources, ...ofTemplate }, sorts },
  deployments: {
    filters: {
      ...ofResources,
      ...ofTemplate,
      ...onTarget,
      reachability: isAmong(reachabilityOf),
      phase: hasMember('phase'),
      desired_state: hasMember('desired_state'),
      workload_id: hasMember('workload_id'),
      update: isAmong(updateOf),
    },
    sorts: [...sorts, 'problem'],
  },
  storage: {
    filters: {
      ...ofResources,
      ...onTarget,
      phase: hasMember('phase'),
      access_mode: hasMember('access_mode'),
      reclaim: hasMember('reclaim'),
      deployment_id: hasMember('deployment_id'),
      attached: isAmong(({ attached_to }) => attached_to.length > 0),
    },
    sorts,
  },
  secrets: { filters: { ...ofResources, kind: hasMember('kind') }, sorts: [...sorts, 'last_rotated_at'] },
  users: {
    filters: { email: hasMember('email'), name: isEqual('name'), role: hasMember('role'), source: hasMember('source') },
    sorts: [...sorts, 'email', 'last_sign_in_at'],
  },
  tokens: {
    filters: {
      name: isEqual('name'),
      role: hasMember('role'),
      status: hasMember('status'),
      created_by: isEqual('created_by'),
    },
    sorts: ['created_at', 'name', 'expires_at', 'last_used_at'],
  },
};

const parametersOf = (plural: string): string[] => {
  const isList = ({ method, path }: Endpoint) => method === 'get' && path === `/api/v1/${plural}`;
  const query = Object.values<Endpoint>(fleetEndpoints).find(isList)?.query;
  return query instanceof z.ZodObject ? Object.keys(query.shape) : [];
};
const pathTo = (plural: string, query: Readonly<Record<string, string>>) =>
  `/api/v1/${plural}?${new URLSearchParams(query)}`;

beforeAll(async () => {
  for (const { id, reachability } of [...(await allRows('hosts')), ...(await allRows('clusters'))])
    reachabilities.set(id, reachability);
});

/** All rows of a list, in no particular order. */
async function allRows(plural: string): Promise<readonly Shown[]> {
  const { body } = await caller.get(pathTo(plural, { limit: '100' }));
  expect(body.pagination.totalPages).toBe(1);
  return body[plural];
}

const hasProblem = ({ phase, reachability }: Shown): boolean =>
  ['degraded', 'failed', 'retrying'].includes(phase) || reachability === 'unreachable';

/** The ids of the rows that match, in order. */
function expectedIds(plural: string, rows: readonly Shown[], { sort = '-created_at', ...filters }: Query): string[] {
  const matching = rows.filter((row) =>
    Object.entries(filters).every(([name, value]) => lists[plural]?.filters[name]?.(row, value)),
  );
  const field = sort.replace('-', '');
  const key = (row: Shown) => {
    if (field === 'name') return row.name.toLowerCase();
    return field === 'problem' ? hasProblem(row) : row[field];
  };
  // Within both groups, deployments that changed last are first, and targets are sorted by name.
  const within = (a: Shown, b: Shown) => {
    if (field !== 'problem') return 0;
    return plural === 'deployments' ? compare(b.updated_at, a.updated_at) : compare(a.name, b.name);
  };
  const compare = (a: Shown, b: Shown) => (a < b ? -1 : a > b ? 1 : 0);
  return matching
    .sort((a, b) => {
      const one = key(a);
      const other = key(b);
      if (one === null || other === null) return Number(one === null) - Number(other === null) || compare(a.id, b.id);
      return compare(one, other) * (sort.startsWith('-') ? -1 : 1) || within(a, b) || compare(a.id, b.id);
    })
    .map(({ id }) => id);
}

type Query = Readonly<Record<string, string>>;

/** Reads all pages of a list. */
async function idsOf(plural: string, query: Query, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const { status, body } = await caller.get(pathTo(plural, { ...query, limit: String(limit), page: String(page) }));
    expect({ query, status }).toEqual({ query, status: 200 });
    ids.push(...body[plural].map(({ id }: Shown) => id));
    if (page >= body.pagination.totalPages) {
      expect({ query, total: body.pagination.total }).toEqual({ query, total: ids.length });
      return ids;
    }
  }
}

/** Values of a filter: some that rows have, at most `most`, and one that none has. */
function sampleOf(plural: string, name: string, rows: readonly Shown[], most = 3): string {
  const member = (of: string) => rows.map((row) => row[of]).filter((value) => value !== null);
  const several = (values: readonly unknown[]) =>
    [...new Set(values)]
      .sort(() => random.next() - 0.5)
      .slice(0, 1 + below(most))
      .join(',');
  const targets = (of: string) => rows.flatMap(({ target }) => target?.[of] ?? []);
  const isFlag = ['schedulable', 'attached'].includes(name);
  const isText = name === 'created_by' || (name === 'name' && ['users', 'tokens'].includes(plural));
  if (plural === 'deployments' && name === 'reachability')
    return oneOf(rows.flatMap((row) => reachabilityOf(row) ?? []));
  if (isFlag) return oneOf(['true', 'false']);
  if (name === 'search') return oneOf(['a', 'B-', '1', 'absent']);
  if (name === 'label') return oneOf(['team', 'team=ml', 'team=web,gpu', 'absent']);
  if (isText) return oneOf([...member(name), 'absent']);
  if (name === 'advisory') return oneOf(severities);
  if (name === 'update') return several(['available', 'held']);
  if (name === 'template_status') return several(rows.flatMap(({ advice }) => advice?.status ?? []));
  if (name === 'email') return oneOf(member(name)).toUpperCase();
  if (name === 'network_type') return several(['mesh', 'public', 'lab', 'absent']);
  if (name.endsWith('_id') && rows.some((row) => 'target' in row) && name in onTarget) return several(targets(name));
  return several(member(name === 'template' ? 'template_slug' : name));
}

describe.each(Object.keys(lists))('the list of %s:', (plural) => {
  const { filters = {}, sorts: fields = [] } = lists[plural] ?? {};
  const names = Object.keys(filters);

  test('this test covers all filters and all rows', async () => {
    const others = ['page', 'limit', 'sort', 'view'];
    expect(
      parametersOf(plural)
        .filter((name) => !others.includes(name))
        .sort(),
    ).toEqual([...names].sort());
    expect((await allRows(plural)).length).toBeGreaterThanOrEqual(ROWS);
  });

  test.each(names)('the filter %s returns exactly the matching rows', async (name) => {
    const rows = await allRows(plural);
    const sizes = new Set<number>();
    for (let round = 0; round < 6; round++) {
      // A single value in the first round, since several can be all that rows have.
      const query = { [name]: sampleOf(plural, name, rows, round === 0 ? 1 : 3) };
      const expected = expectedIds(plural, rows, query);
      expect(query).toEqual(query);
      expect(await idsOf(plural, query, 100)).toEqual(expected);
      sizes.add(expected.length);
    }
    expect([...sizes].some((size) => size > 0 && size < rows.length)).toBe(true);
  });

  test.each(fields.flatMap((field) => [field, `-${field}`]))('the sort order %s is stable over pages', async (sort) => {
    expect(await idsOf(plural, { sort }, 7)).toEqual(expectedIds(plural, await allRows(plural), { sort }));
  });

  test('without a sort order, the newest rows are first', async () => {
    expect(await idsOf(plural, {}, 11)).toEqual(expectedIds(plural, await allRows(plural), { sort: '-created_at' }));
  });

  test('filters and sort fields are combined', async () => {
    const rows = await allRows(plural);
    for (let round = 0; round < QUERIES; round++) {
      const chosen = some(names, 2 / names.length);
      const sort = `${isOneIn(2) ? '-' : ''}${oneOf(fields)}`;
      const query = { ...Object.fromEntries(chosen.map((name) => [name, sampleOf(plural, name, rows)])), sort };
      expect(query).toEqual(query);
      expect(await idsOf(plural, query, 4 + below(20))).toEqual(expectedIds(plural, rows, query));
    }
  });

  test.each(names)('an invalid value of the filter %s is rejected by name', async (name) => {
    for (const value of ['~\n', 'a\u0000']) {
      const answer = await caller.get(pathTo(plural, { [name]: value }));
      expect(answer.status).toBe(400);
      expect(invalidPathsOf(answer)).toEqual([name]);
    }
  });

  test('unknown parameters and sort fields are rejected with the allowed ones', async () => {
    const answer = await caller.get(pathTo(plural, { colour: 'red', sort: 'colour' }));
    expect({ status: answer.status, errors: answer.body.errors }).toEqual({
      status: 400,
      errors: expect.arrayContaining([
        { path: 'sort', message: `must be one of: ${fields.flatMap((field) => [field, `-${field}`]).join(', ')}` },
        { path: 'colour', message: `unknown parameter; allowed: ${parametersOf(plural).join(', ')}` },
      ]),
    });
  });
});

test('a value that a member cannot have is rejected with the allowed values', async () => {
  const messages = async (plural: string, query: Query) => {
    const { status, body } = await caller.get(pathTo(plural, query));
    return [status, body.errors.map(({ message }: { message: string }) => message)];
  };
  const phases = 'pending, starting, retrying, running, degraded, failed, stopping, stopped, deleting';
  const ofPhase = `must be one of: ${phases}, or at most 20 of them, separated by commas`;
  for (const phase of ['Running', 'running,', ',running', 'running, failed', '', Array(21).fill('failed').join(',')]) {
    expect(await messages('deployments', { phase })).toEqual([400, [ofPhase]]);
  }
  expect(await messages('hosts', { engine: 'lxc', schedulable: '1' })).toEqual([
    400,
    ['must be one of: docker, podman, kubernetes, or at most 20 of them, separated by commas', 'must be true or false'],
  ]);
  expect(await messages('deployments', { host_id: 'x' })).toEqual([
    400,
    ['must be a UUID, or at most 20 of them, separated by commas'],
  ]);
});

test.each(['keys', 'server', 'sealed', 'values'])('secrets cannot be filtered or sorted by %s', async (member) => {
  const answer = await caller.get(pathTo('secrets', { [member]: 'a', sort: member }));
  expect(answer.status).toBe(400);
  expect(invalidPathsOf(answer)).toEqual([member, 'sort'].sort());
});

test.each(['token_hash', 'token_prefix', 'secret'])('tokens cannot be filtered or sorted by %s', async (member) => {
  const answer = await caller.get(pathTo('tokens', { [member]: 'a', sort: member }));
  expect(answer.status).toBe(400);
  expect(invalidPathsOf(answer)).toEqual([member, 'sort'].sort());
});
