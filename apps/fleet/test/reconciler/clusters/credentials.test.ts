import { createPrivateKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startCanaryWorld } from './canaries/canary-world.ts';
import { REFUSALS, type Request } from './echo.ts';

describe('credentials for a cluster', () => {
  let world: Awaited<ReturnType<typeof startCanaryWorld>>;
  beforeAll(async () => {
    world = await startCanaryWorld();
  });
  afterAll(() => world?.end());

  test('include a token that is sent only to the server that it was registered for', async () => {
    const { request, tell, lab, other, aCanary, check, clusterId } = world;
    const next = tell('next token of the cluster', 'lab');
    lab.rotate(next);
    expect((await check(clusterId)).reachability).toBe('unreachable');
    const auth = { kind: 'token', token: next };
    expect((await request('PUT', `clusters/${clusterId}`, { auth })).status).toBe(200);
    expect((await check(clusterId)).reachability).toBe('online');
    other.rotate(next); // it would accept the token
    const moved = { server: other.url, ca_certificate: other.ca };
    expect((await request('PUT', `clusters/${clusterId}`, moved)).status).toBe(400);
    await check(clusterId);
    expect(other.requests).toEqual([]);
    const third = { kind: 'token', token: aCanary('token of another server') };
    expect((await request('PUT', `clusters/${clusterId}`, { ...moved, auth: third })).status).toBe(200);
    await check(clusterId);
    expect(other.requests.map(({ user }) => user)).not.toContainEqual(expect.any(String));
    expect(other.requests).not.toEqual([]);
    const back = { server: lab.url, ca_certificate: lab.ca, auth };
    expect((await request('PUT', `clusters/${clusterId}`, back)).status).toBe(200);
    expect((await check(clusterId)).reachability).toBe('online');
  });

  test('include a client certificate that authenticates all requests', async () => {
    const { keep, pair, registered, deployed, is, ids, echoes, recovers } = world;
    const key = keep('key of the certificate', pair.key);
    keep('key in bytes', createPrivateKey(key).export({ type: 'pkcs8', format: 'der' }));
    const { certificate } = pair;
    const cluster = await registered('certified', { kind: 'client_certificate', certificate, key });
    const isMeant = ({ method }: Request) => method === 'PATCH';
    await echoes.certified.whileRefusing({ isMeant, refusing: REFUSALS.invalid }, async () => {
      await is(await deployed('certified', cluster), 'failed', 'InvalidSpec');
    });
    await recovers(ids.at(-1) ?? '');
  });

  test('appear in no response, log line or table', async () => {
    const { readAll, ids, search } = world;
    await readAll(ids);
    const { found, haystacks } = await search();
    expect(haystacks['public.clusters, in the end']).toContain('ciphertext');
    expect(found).toEqual([]);
  });
});
