// How much CPU do other programs need for the same reads, relative to the hub?
//
//   pnpm bench --peers [--templates, --rounds, --seconds and --record as without --peers]
//
// The first run installs the peer from the package registry, and compiles a native module: it requires Python, make and a C++ compiler,
// and takes some minutes. Directus reports anonymous statistics to its vendor, which cannot be disabled without a license key.
//
// Method: the peer has the same templates, on a PostgreSQL server of its own. In each round, the hub and the peer receive the same kind of
// request in turn on 32 connections. The first round is a warm-up. A ratio is the CPU time of the peer per request divided by that of
// the hub; its goal counts only the processes of both servers. The second ratio adds the CPU time of PostgreSQL on both sides. The
// medians count. A result is inconclusive if the hub itself varies by more than 25 % between rounds.
import { measure } from '../hub/measure.mjs';
import { read, requestsOf } from '../hub/requests.mjs';
import { atLeast, isNoisy, median, micro } from '../report.mjs';
import { directusPaths, installDirectus, name, startDirectus } from './directus.mjs';

const GOAL = 50;
const CONNECTIONS = 32;
const KINDS = ['list', 'slug', 'since'];

/** The number of items that the peer must return for each kind of request. */
const ITEMS = { list: 50, slug: 1, since: 0 };

async function requireItems(peer, paths) {
  for (const kind of KINDS) {
    const response = await fetch(peer.url + paths[kind], { headers: { authorization: `Bearer ${peer.token}` } });
    const text = await response.text();
    if (!response.ok) throw new Error(`GET ${paths[kind]}: ${response.status} ${text}`);
    const { length } = JSON.parse(text).data;
    if (length !== ITEMS[kind]) throw new Error(`GET ${paths[kind]}: ${length} items instead of ${ITEMS[kind]}`);
  }
}

async function compare({ hub, peer, paths, peerPaths, kind, rounds, seconds }) {
  const results = [];
  for (let round = 0; round <= rounds; round += 1) {
    const own = await measure(hub, [{ key: hub.keys[0], path: paths[kind] }], { connections: CONNECTIONS, seconds });
    const other = await measure(peer, [{ key: peer.token, path: peerPaths[kind] }], {
      connections: CONNECTIONS,
      seconds,
    });
    if (round > 0) results.push({ own, other });
  }
  const middle = (of) => median(results.map(of));
  const costOf = (of) => {
    const [cpu, database] = [middle((each) => of(each).cpu), middle((each) => of(each).withDatabase - of(each).cpu)];
    return `${micro(cpu)}, PostgreSQL ${micro(database)}, ${middle((each) => of(each).rate).toFixed(0)} requests/s`;
  };
  return {
    ratio: middle(({ own, other }) => other.cpu / own.cpu),
    withDatabase: middle(({ own, other }) => other.withDatabase / own.withDatabase),
    details: `hub ${costOf(({ own }) => own)}; peer ${costOf(({ other }) => other)}`,
    noisy: isNoisy(results.map(({ own }) => own.cpu)),
  };
}

/** Measures Directus with its default settings, and with its cache of responses, for which there is no goal. */
export async function comparePeers({ hub, report, rounds, seconds }) {
  const installed = await installDirectus().catch(({ message }) => report(`${name}: not installed: ${message}`));
  if (!installed) return;
  report(`${name} does not do: visibility per organization, counts of downloads, the expiry and last use of keys`);
  const { paths } = await requestsOf(hub);
  const [template] = JSON.parse(await read(hub, paths.list)).templates;
  const since = new URL(paths.since, hub.url).searchParams.get('since');
  for (const cache of [false, true]) {
    const title = `${name}${cache ? ' with its cache' : ''}`;
    const peer = await startDirectus({ installed, hub, members: Object.keys(template), cache });
    try {
      const peerPaths = directusPaths(peer, { since });
      await requireItems(peer, peerPaths);
      for (const kind of KINDS) {
        const { ratio, withDatabase, details, noisy } = await compare({
          hub,
          peer,
          paths,
          peerPaths,
          kind,
          rounds,
          seconds,
        });
        report(`${title}, ${kind}: ratio ${ratio.toFixed(1)} (${details})`, cache ? '' : atLeast(ratio, GOAL, noisy));
        report(`${title}, ${kind}: ratio with PostgreSQL on both sides ${withDatabase.toFixed(1)}`);
      }
    } finally {
      await peer.stop();
    }
  }
}
