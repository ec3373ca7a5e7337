// What do requests and edits cost with 100,000 templates, relative to a smaller catalog?
//
//   pnpm bench:scale [--large <templates, default 100000>] [--rounds <default 5>]
//                    [--seconds <per phase, an integer, default 2>] [--record]
//
// Method: two hubs run as in production, each with its own PostgreSQL server. In each round, the
// small and the large one receive the same work in turn, so that both see the same noise. The first
// round is a warm-up. Costs are the CPU time of the hub and of its PostgreSQL server together. A
// ratio is the cost with the large catalog divided by that with the small one, and the median
// counts. A result is inconclusive if the cost with the small catalog varies by more than 25 %
// between rounds.
import { parseArgs } from 'node:util';
import { editOf, startProvider } from '../hub/administrator.mjs';
import { ORGANIZATIONS } from '../hub/data.mjs';
import { startHub } from '../hub/processes.mjs';
import { LIST, latest, read, requestsOf } from '../hub/requests.mjs';
import { wordOf } from '../hub/words.mjs';
import { sendEach } from '../shared/client.mjs';
import { cpuDuring, measure, measureEach } from '../shared/measure.mjs';
import { randomNumbers } from '../shared/random.mjs';
import { atMost, createReport } from '../shared/report.mjs';
import { isNoisy, median, micro } from '../shared/statistics.mjs';

const { values } = parseArgs({
  options: {
    large: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    record: { type: 'boolean', default: false },
  },
});
const large = Number(values.large);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const SMALL_FOR_READS = 10_000;
const SMALL_FOR_EDITS = 1000;
const GOALS = { list: 1.3, slug: 1.3, since: 1.3, mix: 2, search: 4, totals: 1.3, edit: 2, 'edit and poll': 2 };
const CONNECTIONS = 32;
const SEARCHES = 200;
const TOTALS_PASSES = 4;
const EDITS = 60;
const CONCURRENT_EDITS = 50;

const { report, end } = createReport();

/**
 * Alternates between two hubs.
 * @param work returns a cost: `cpu` and `withDatabase` in milliseconds, and `latency` of edits
 */
async function compare(title, hubs, work) {
  const results = [];
  for (let round = 0; round <= rounds; round += 1) {
    const result = [];
    for (const hub of hubs) result.push(await work(hub, round));
    if (round > 0) results.push(result);
  }
  const ratioOf = (of) => median(results.map(([small, big]) => of(big) / of(small)));
  const verdictOf = (ratio, of) => atMost(ratio, GOALS[title], isNoisy(results.map(([small]) => of(small))));
  const details = hubs.map(({ templates }, index) => {
    const middle = (of) => micro(median(results.map((result) => of(result[index]))));
    const parts = `hub ${middle(({ cpu }) => cpu)}, PostgreSQL ${middle(({ cpu, withDatabase }) => withDatabase - cpu)}`;
    return `${templates}: ${parts}`;
  });
  const cost = ({ withDatabase }) => withDatabase;
  const ratio = ratioOf(cost);
  report(`${title}: CPU ratio ${ratio.toFixed(2)} (${details.join('; ')})`, verdictOf(ratio, cost));
  if (results[0][0].latency === undefined) return;
  const latency = (of) => of.latency;
  const slower = ratioOf(latency);
  const milliseconds = hubs.map(({ templates }, index) => {
    return `${templates}: ${median(results.map((result) => result[index].latency)).toFixed(1)} ms`;
  });
  report(`${title}: latency ratio ${slower.toFixed(2)} (${milliseconds.join('; ')})`, verdictOf(slower, latency));
}

/** Different words, drawn like those of the catalog. */
function differentTerms(count) {
  const random = randomNumbers(3);
  const terms = new Set();
  while (terms.size < count) terms.add(wordOf(random));
  return [...terms];
}
const terms = differentTerms(SEARCHES * (rounds + 1));
/**
 * The searches of a round. Each round has its share of frequent words, and no search was sent
 * before.
 */
const searchesOf = ({ keys }, round) =>
  terms
    .filter((_, index) => index % (rounds + 1) === round)
    .map((term, index) => ({ key: keys[index % keys.length], path: `${LIST}?limit=20&search=${term}` }));

const sum = (costs) => ({
  cpu: costs.reduce((total, { cpu }) => total + cpu, 0),
  withDatabase: costs.reduce((total, { withDatabase }) => total + withDatabase, 0),
});

/** The first page of each organization after an edit, which makes all pages in memory outdated. */
async function totalsOf(hub, token) {
  const requests = hub.keys.slice(0, ORGANIZATIONS).map((key) => ({ key, path: `${LIST}?limit=1` }));
  const costs = [];
  for (let pass = 0; pass < TOTALS_PASSES; pass += 1) {
    await measureEach(hub, [editOf(token, 1)], 1);
    await latest(hub); // the hub reads the edit
    costs.push(await measureEach(hub, requests, CONNECTIONS));
  }
  const { cpu, withDatabase } = sum(costs);
  return { cpu: cpu / TOTALS_PASSES, withDatabase: withDatabase / TOTALS_PASSES };
}

async function compareReads(hubs, token) {
  const loads = new Map();
  const first = [];
  for (const hub of hubs) {
    loads.set(hub, (await requestsOf(hub)).loads);
    // Otherwise the faster hub would have more of the pages of the mix in memory.
    first.push(await measureEach(hub, await loads.get(hub).mix(), CONNECTIONS));
  }
  const [small, big] = first.map(({ withDatabase }) => withDatabase);
  report(
    `first pass of the mix after the start: CPU ratio ${(big / small).toFixed(2)} (${micro(small)} and ${micro(big)} with PostgreSQL)`,
  );
  for (const kind of ['list', 'slug', 'since', 'mix']) {
    await compare(kind, hubs, async (hub) => {
      const requests = await loads.get(hub)[kind]();
      return measure(hub, requests, { connections: CONNECTIONS, seconds });
    });
  }
  await compare('search', hubs, (hub, round) => measureEach(hub, searchesOf(hub, round), CONNECTIONS));
  await compare('totals', hubs, (hub) => totalsOf(hub, token));
}

async function compareEdits(hubs, token) {
  const random = randomNumbers(2);
  const editsOf = (hub) => Array.from({ length: EDITS }, () => editOf(token, 1 + Math.floor(random() * hub.templates)));
  await compare('edit', hubs, async (hub) => {
    const { latencies, ...costs } = await measureEach(hub, editsOf(hub), 1);
    return { ...costs, latency: median(latencies) };
  });
  // The hub reads an edit when the next request arrives.
  await compare('edit and poll', hubs, async (hub) => {
    let since = (await latest(hub)).checked_at;
    const { cpu, withDatabase } = await cpuDuring(hub, async () => {
      for (const edit of editsOf(hub)) {
        await measureEach(hub, [edit], 1);
        since = JSON.parse(await read(hub, `${LIST}/updates?since=${since}`)).checked_at;
      }
    });
    return { cpu: cpu / EDITS, withDatabase: withDatabase / EDITS };
  });
}

/**
 * Sends edits at once, without retries. None may be rejected. `numberOf` returns the template of an
 * edit.
 */
async function editAtOnce(hub, token, { title, numberOf }) {
  const results = [];
  for (let round = 0; round < rounds; round += 1) {
    const requests = Array.from({ length: CONCURRENT_EDITS }, (_, index) => editOf(token, numberOf(index)));
    results.push(...(await sendEach({ url: hub.url, requests, connections: CONCURRENT_EDITS })));
  }
  const rejected = results.filter(({ status }) => status !== 200);
  const statuses = [...new Set(rejected.map(({ status }) => status))].join(', ');
  const slowest = Math.max(...results.map(({ latency }) => latency));
  report(
    `${CONCURRENT_EDITS} concurrent edits of ${title}, ${rounds} times: ${rejected.length} rejected` +
      `${rejected.length === 0 ? '' : ` (${statuses})`}, the slowest ${slowest.toFixed(0)} ms`,
    atMost(rejected.length, 0),
  );
}

const provider = await startProvider();
const running = [];
const start = async (templates) => {
  const hub = await startHub({ templates, provider });
  running.push(hub);
  return hub;
};
try {
  const big = await start(large);
  const forReads = await start(SMALL_FOR_READS);
  await compareReads([forReads, big], provider.token);
  const forEdits = await start(SMALL_FOR_EDITS);
  await compareEdits([forEdits, big], provider.token);
  await editAtOnce(big, provider.token, { title: 'different templates', numberOf: (index) => 1 + index });
  await editAtOnce(big, provider.token, { title: 'one template', numberOf: () => 1 });
  for (const hub of running) report(`peak memory with ${hub.templates} templates: ${hub.memory()} MB`);
} finally {
  await Promise.all(running.map((hub) => hub.stop()));
  await provider.stop();
}
end(values.record ? { what: 'scale' } : undefined, { templates: large, rounds, 'seconds per phase': seconds });
