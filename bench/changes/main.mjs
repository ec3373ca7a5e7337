// What does it cost a hub to record revisions of templates?
//
//   pnpm bench:changes [--templates <default 1000>] [--rounds <default 9>] [--changes <per round, default 60>] [--record]
//
// Method: a hub runs as in production, with a PostgreSQL server that waits for its disk at each commit. In each round, an administrator
// changes templates one after the other, first without the triggers that record revisions and then with them, so that both see the
// same noise. The first round is a warm-up. The ratio of the rounds counts: its median, for the time of a change and for the CPU time
// of the hub and of its database together. A result is inconclusive if the values without the triggers vary by more than 25 %.
import { parseArgs } from 'node:util';
import { editOf, startProvider } from '../hub/administrator.mjs';
import { createHub } from '../hub/processes.mjs';
import { startPostgres, withClient } from '../shared/database.mjs';
import { measureEach } from '../shared/measure.mjs';
import { randomNumbers } from '../shared/random.mjs';
import { atMost, createReport } from '../shared/report.mjs';
import { isNoisy, median, micro } from '../shared/statistics.mjs';

const { values } = parseArgs({
  options: {
    templates: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '9' },
    changes: { type: 'string', default: '60' },
    record: { type: 'boolean', default: false },
  },
});
const templates = Number(values.templates);
const rounds = Number(values.rounds);
const changes = Number(values.changes);
const GOAL = 1.5;
const TRIGGERS = ['template_version_of_content', 'template_record_revision', 'template_record_changed_revision'];

const { report, end } = createReport();

const setTriggers = (databaseUrl, action) =>
  withClient(databaseUrl, (client) =>
    client.query(TRIGGERS.map((trigger) => `ALTER TABLE templates ${action} TRIGGER ${trigger};`).join('')),
  );

async function compare(hub, token) {
  const random = randomNumbers(3);
  const editsOf = () => Array.from({ length: changes }, () => editOf(token, 1 + Math.floor(random() * templates)));
  const results = [];
  for (let round = 0; round <= rounds; round += 1) {
    const result = {};
    for (const [state, action] of [
      ['without', 'DISABLE'],
      ['with', 'ENABLE'],
    ]) {
      await setTriggers(hub.databaseUrl, action);
      const { latencies, withDatabase } = await measureEach(hub, editsOf(), 1);
      result[state] = { time: median(latencies), cpu: withDatabase };
    }
    if (round > 0) results.push(result);
  }
  for (const [member, title] of [
    ['time', 'time of a change'],
    ['cpu', 'CPU time of the hub and its database for a change'],
  ]) {
    const middle = (state) => micro(median(results.map((result) => result[state][member])));
    const ratio = median(results.map((result) => result.with[member] / result.without[member]));
    const without = results.map((result) => result.without[member]);
    report(
      `${title}: ${middle('with')}, without revisions ${middle('without')}, ${ratio.toFixed(2)} times`,
      atMost(ratio, GOAL, isNoisy(without)),
    );
  }
}

const provider = await startProvider();
const postgres = await startPostgres({ durable: true });
let created;
try {
  created = await createHub({ templates, provider, postgres });
  await compare(await created.start(), provider.token);
} finally {
  await created?.stop();
  await postgres.stop();
  await provider.stop();
}
end(values.record ? { what: 'changes' } : undefined, { templates, rounds, 'changes per round': changes });
