// What requests cost hubs, relative to a bare server that sends the same bytes.
import { measure } from '../shared/measure.mjs';
import { isNoisy, median } from '../shared/statistics.mjs';
import { startWriting } from './data.mjs';
import { startNginx } from './nginx.mjs';
import { startBare } from './processes.mjs';
import { LIST, responseOf } from './requests.mjs';

export const WRITES_PER_SECOND = 10;

/** The responses of a hub, by the kind of the request. */
async function responsesOf(hub, paths) {
  const responses = {};
  for (const [kind, target] of Object.entries({ ...paths, filter: `${LIST}?limit=20&tags=t1` })) {
    responses[`/${kind}`] = await responseOf(hub, target);
  }
  return responses;
}

/** Starts a bare server that sends the responses of a hub, by the kind of the request. */
export const startBareFor = async (hub, paths) => startBare(await responsesOf(hub, paths));

/** Starts nginx with the bodies of the same responses; undefined if it is not installed. */
export const startNginxFor = async (hub, paths) => startNginx(await responsesOf(hub, paths));

/**
 * In each round, the bare server, nginx and the hubs receive the same load in turn, so that all of
 * them see the same noise. The first round is a warm-up.
 * @param kind a kind of load, of `requestsOf`
 * @param hubs each with its `loads`
 * @param nginx can be undefined
 * @returns the results of each round: `bare`, `nginx`, and `hubs` in their order
 */
export async function measureRounds({ kind, bare, nginx, hubs, connections, rounds, seconds }) {
  const [{ loads }] = hubs;
  const bareRequests = (await loads[kind]()).map((request) => ({ path: `/${request.kind}` }));
  const results = [];
  for (let round = 0; round <= rounds; round += 1) {
    const result = { bare: await measure(bare, bareRequests, { connections, seconds }), hubs: [] };
    if (nginx) result.nginx = await measure(nginx, bareRequests, { connections, seconds });
    const order = round % 2 === 0 ? [...hubs.keys()] : [...hubs.keys()].reverse();
    for (const index of order) {
      const hub = hubs[index];
      const requests = await hub.loads[kind]();
      const writing = kind === 'mix with writes' ? startWriting(hub.databaseUrl, WRITES_PER_SECOND) : undefined;
      const measured = measure(hub, requests, { connections, seconds });
      result.hubs[index] = await measured.finally(() => writing?.stop());
    }
    if (round > 0) results.push(result);
  }
  return results;
}

/** The median of a value of each round. */
export const medianOf = (results, pick) => median(results.map(pick));

/** Whether the bare server varies so much that its comparison with a hub means nothing. */
export const isBareNoisy = (results) => isNoisy(results.map(({ bare }) => bare.cpu));
