// What the checks of a cluster find about the credentials of the fleet, and what follows from it.
import { describe, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { aClusterWorld, PLAIN } from './world.ts';

const DAY_MS = 86_400_000;

/** A token as clusters issue it, with the time of its end. */
const aToken = (expireAt: number) => {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ exp: Math.floor(expireAt / 1000) })}.signature`;
};

/** The time at which a token of `aToken` ends. */
const dateOf = (token: string): string =>
  new Date(JSON.parse(Buffer.from(String(token.split('.')[1]), 'base64url').toString()).exp * 1000).toISOString();

describe('the check of a cluster', () => {
  const world = aClusterWorld();

  test('makes all deployments due that have failed when the permissions are complete again', async () => {
    const { deployed, deploymentIs, server, checked, clusterId, database, deployment, reconcileNow, removed } = world();
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) ids.push((await deployed(name, PLAIN)).id);
    for (const id of ids) await deploymentIs(id, 'running');
    server.forbidden.add('list pods');
    const { conditions } = await checked(clusterId);
    expect(conditions).toContainEqual(expect.objectContaining({ type: 'Permitted', status: 'False' }));
    for (const id of ids) {
      await reconcileNow(id);
      await eventually('the failure is reported', async () => (await deployment(id)).reason === 'AuthFailed');
    }
    // As after many failures, with the longest delay.
    const due_at = new Date(Date.now() + 300_000);
    await database.client.deployment.updateMany({ data: { failures: 8, due_at } });
    server.forbidden.clear();
    await checked(clusterId);
    for (const id of ids) await deploymentIs(id, 'running');
    for (const id of ids) await removed(id);
  });

  test('reports credentials 14 days before they expire, once, and until they are replaced', async () => {
    const { server, checked, clusterId, good, api } = world();
    const use = async (expireAt: number) => {
      const token = aToken(expireAt);
      server.rotate(token);
      await good(api.put(`/api/v1/clusters/${clusterId}`, { auth: { kind: 'token', token } }));
      const cluster = await checked(clusterId);
      const condition = cluster.conditions.find(({ type }: { type: string }) => type === 'CredentialsValid');
      const { events } = await good(api.get(`/api/v1/clusters/${clusterId}/events`));
      const expiring = events.filter(({ reason }: { reason: string }) => reason === 'CredentialsExpire');
      return {
        cluster,
        condition,
        lasting: expiring.map(({ resolved_at }: { resolved_at: unknown }) => resolved_at === null),
      };
    };
    const later = await use(Date.now() + 15 * DAY_MS);
    expect(later).toMatchObject({ condition: { status: 'True', reason: 'Valid', message: '' }, lasting: [] });
    const soon = Math.floor((Date.now() + 13 * DAY_MS) / 1000) * 1000;
    const warned = await use(soon);
    const at = new Date(soon).toISOString();
    expect(warned).toMatchObject({
      cluster: { reachability: 'online', credentials_expire_at: at },
      condition: {
        status: 'False',
        reason: 'ExpireSoon',
        message: `The credentials of the fleet expire at ${at}. Send a PUT with a new auth.`,
      },
      lasting: [true],
    });
    await checked(clusterId);
    expect((await use(soon)).lasting).toEqual([true]);
    const expired = await use(Date.now() - DAY_MS);
    expect(expired).toMatchObject({ condition: { status: 'False', reason: 'Expired' }, lasting: [true] });
    server.rotate('another token');
    expect((await checked(clusterId)).message).toMatch(
      /^The cluster does not accept the credentials\. The credentials of the fleet expired at /,
    );
    expect((await use(Date.now() + 365 * DAY_MS)).lasting).toEqual([false]);
  });

  test('does not store what it has found with credentials that were replaced since it began', async () => {
    const { server, checked, clusterId, good, api, cluster, database, engineRuntime } = world();
    const tokens = { before: aToken(Date.now() + DAY_MS), after: aToken(Date.now() + 365 * DAY_MS) };
    const use = (token: string) => good(api.put(`/api/v1/clusters/${clusterId}`, { auth: { kind: 'token', token } }));
    server.rotate(tokens.before);
    await use(tokens.before);
    const row = await database.client.cluster.findUniqueOrThrow({ where: { id: clusterId } });
    await use(tokens.after);
    // As a check that has read its cluster before the change, and stores its result after it.
    const checkAsBefore = () => engineRuntime.checkCluster(row);

    await checkAsBefore();
    expect((await cluster(clusterId)).credentials_expire_at).toBe(dateOf(tokens.after));
    server.rotate(tokens.after);
    const online = await checked(clusterId);
    expect(online).toMatchObject({ reachability: 'online', credentials_expire_at: dateOf(tokens.after) });
    await checkAsBefore();
    const { reachability, credentials_expire_at } = online;
    expect(await cluster(clusterId)).toMatchObject({ reachability, credentials_expire_at });
  });
});
