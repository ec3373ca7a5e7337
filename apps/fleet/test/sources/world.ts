// A fleet with its sources at work, and a repository that git serves over HTTP.

import { GIT_OUTBOUND } from '@svc/git';
import { createOutbound } from '@svc/http';
import { aGitServer, eventually, type GitFault, type GitServer } from '@svc/testing';
import { createSources } from '../../src/sources/sources.ts';
import { type Body, startDeploymentWorld } from '../deployments/world.ts';
import { plansOf } from '../plans/world.ts';
import type { World } from '../world.ts';

/** The work of sources of one process of the fleet. */
export function sourcesOf({ services, turns, log }: Pick<World, 'services' | 'turns' | 'log'>) {
  const outbound = createOutbound({
    ...GIT_OUTBOUND,
    timeoutMs: 2000,
    restrictTo: new Set(['http', 'loopback'] as const),
  });
  const sources = createSources({ making: { ...services, ...turns }, log, outbound, timings: { lookEvery: 10 } });
  return {
    start: sources.start,
    stop: async () => {
      await sources.stop();
      await outbound.close();
    },
  };
}

/** The members of a source that tests read. */
interface Source {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly hook_secret: string;
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly commit: { readonly sha: string; readonly title: string; readonly author: string } | null;
  readonly applied_commit: string | null;
  readonly plan_id: string | null;
  readonly plan_state: string | null;
  readonly checking: boolean;
  readonly checked_at: string | null;
  readonly failure: string | null;
  readonly failing_since: string | null;
}

/** Files of a commit: a deployment for each name, in the folder `deploy`. */
export const filesOf = (documents: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(documents).map(([name, image]) => [
      `deploy/${name}.yaml`,
      `kind: deployment\nname: ${name}\nspec:\n  image_name: ${image}\n`,
    ]),
  );

export async function startSourceWorld() {
  const deployments = await startDeploymentWorld();
  const fleet = { ...deployments.world, ...deployments };
  const { client, asAdmin } = fleet;
  const plans = plansOf(fleet);
  const sources = sourcesOf(fleet);
  let repository: GitServer;
  let count = 0;
  beforeAll(async () => {
    repository = await aGitServer();
    sources.start();
  });
  beforeEach(async () => {
    await client.source.deleteMany();
    await plans.forget();
    repository.failWith(undefined);
    await fleet.aHost();
  });
  afterAll(async () => {
    await sources.stop();
    await repository.stop();
  });

  const read = async (id: string): Promise<Source> => (await asAdmin.get(`/api/v1/sources/${id}`)).body.source;
  /** Waits until a check has ended, and no other one is requested. */
  const ended = (id: string) =>
    eventually('the source is checked', () => read(id), { until: ({ checking }) => !checking });
  /** A branch of its own with these files, and the source that follows it. */
  const create = async (documents: Readonly<Record<string, string>>, given: Body = {}, by = asAdmin) => {
    count += 1;
    const branch = `branch-${count}`;
    await repository.commit({ branch, files: filesOf(documents), message: 'The first commit' });
    const body = { name: `s${count}`, url: repository.url, branch, folder: 'deploy', ...given };
    const answer = await by.post('/api/v1/sources', body);
    if (answer.status !== 201) throw new Error(`POST sources responded with ${answer.status}: ${answer.text}`);
    const { id, name, hook_secret } = answer.body.source as Source;
    await ended(id);
    return { id, name, branch, hook_secret };
  };
  /** Has the source checked, and waits for the end. */
  const check = async ({ id }: { readonly id: string }): Promise<Source> => {
    await asAdmin.post(`/api/v1/sources/${id}/check`);
    return ended(id);
  };
  const commit = async (
    source: { readonly id: string; readonly branch: string },
    documents: Readonly<Record<string, string>>,
    given: { readonly parents?: readonly string[] } = {},
  ) => {
    await repository.commit({ branch: source.branch, files: filesOf(documents), ...given });
    return check(source);
  };
  /** The images of all deployments by their names. */
  const images = async (): Promise<Record<string, string>> => {
    const rows = await client.$queryRaw<{ name: string; image: string }[]>`
      SELECT d.name, v.spec->>'image_name' AS image FROM deployments d
      JOIN workload_revisions v ON v.workload_id = d.workload_id AND v.revision = d.revision
      WHERE NOT d.deleting ORDER BY d.name`;
    return Object.fromEntries(rows.map(({ name, image }) => [name, image]));
  };
  const failing = async (source: { readonly id: string }, fault: GitFault, skip = 0) => {
    repository.failWith(fault, skip);
    const checked = await check(source);
    repository.failWith(undefined);
    return checked;
  };
  /** The last plan of a source. */
  const planOf = async ({ id }: { readonly id: string }) => plans.read((await read(id)).plan_id ?? '');
  return { ...fleet, ...plans, git: () => repository, read, create, check, commit, images, failing, planOf };
}
