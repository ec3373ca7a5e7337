// A change that one replica acknowledged applies to the next request to another replica.
import { isDeepStrictEqual } from 'node:util';
import { byDepth, figure } from '@svc/testing';
import { startWorld } from '../world.ts';
import { changesOf, type Scenario } from './freshness-changes.ts';
import { aReplica, type CheckName, type Replica } from './freshness-replica.ts';

const ROUNDS = byDepth({ short: 3, full: 40, long: 500 });
/** A round of this kind waits until a key expires. As many as there are ways wait at the same time. */
const ROUNDS_OF_EXPIRY = byDepth({ short: 3, full: 12, long: 102 });
const ROUNDS_OF_CONTROLS = byDepth({ short: 20, full: 20, long: 100 });
/** Otherwise, a control ends with its first stale response. */
const COUNTS_ALL = byDepth({ short: false, full: false, long: true });

const world = await startWorld();
const changes = await changesOf(world);
type ChangeName = keyof typeof changes;
const kinds = Object.keys(changes) as ChangeName[]; // the object has no other keys
afterAll(() => world.stop());

/**
 * How the second replica is asked, in turn. Both conditional requests have the entity tag of the
 * response before the change.
 */
const WAYS = ['GET', 'GET with If-None-Match', 'HEAD with If-None-Match'] as const;

/**
 * Runs a round. @returns whether the response after the acknowledged change was still the old one
 */
async function isStale(replica: Replica, change: ChangeName, round: number): Promise<boolean> {
  const scenario: Scenario = await changes[change](replica);
  await replica.catchUp();
  const { api, path, member, before, after } = scenario;
  const way = WAYS[round % WAYS.length];
  const isConditional = way !== 'GET';
  const { etag } = isConditional ? (await api.get(path)).headers : {};
  const headers = etag === undefined ? {} : { 'If-None-Match': etag };
  const ask = async () => {
    const { status, body } = await api.send({ method: way?.split(' ', 1)[0] ?? '', path, headers });
    return !isConditional && member && status === 200 ? [status, member(body)] : [status];
  };
  const old = isConditional ? [before[0] === 200 ? 304 : before[0]] : before;
  expect(await ask()).toEqual(old);
  await scenario.change();
  const answer = await ask();
  if (isDeepStrictEqual(answer, old)) return true;
  expect(answer).toEqual(isConditional ? [after[0]] : after);
  return false;
}

describe('another replica', () => {
  let replica: Replica;
  beforeAll(() => {
    replica = aReplica(world, 'the check of the hub');
  });
  afterAll(() => replica.stop());

  test.each(kinds)(
    'applies %s to the next request',
    async (change) => {
      const rounds = change === 'an expiry' ? ROUNDS_OF_EXPIRY : ROUNDS;
      const atOnce = change === 'an expiry' ? WAYS.length : 1;
      let stale = 0;
      for (let first = 0; first < rounds; first += atOnce) {
        const group = Array.from({ length: atOnce }, (_, nth) => isStale(replica, change, first + nth));
        stale += (await Promise.all(group)).filter(Boolean).length;
      }
      figure(`${change}: ${rounds} rounds, ${stale} stale responses`);
      expect(stale).toBe(0);
    },
    30_000 + ROUNDS * 1000,
  );
});

test.each<CheckName>(['a check that joins the one in progress', 'a check that waits for notifications'])(
  'this test recognizes stale responses: %s causes them',
  async (check) => {
    const replica = aReplica(world, check);
    let rounds = 0;
    let stale = 0;
    for (let round = 0; round < ROUNDS_OF_CONTROLS && (COUNTS_ALL || stale === 0); round += 1) {
      for (const change of [
        'a revocation',
        'a reissue',
        'a suspension',
        'a withdrawal',
        'an edit',
        'a grant',
      ] as const) {
        stale += Number(await isStale(replica, change, round));
        rounds += 1;
      }
    }
    await replica.stop();
    figure(`${check}: ${rounds} rounds, ${stale} stale responses`);
    expect(stale).toBeGreaterThan(0);
  },
  30_000 + ROUNDS_OF_CONTROLS * 2000,
);
