// Does the time of a refused sign-in tell whether somebody has an account?
//
//   pnpm bench:sign-in [--accounts <default 9>]
//
// Method: each round sends POST /api/v1/auth/login twice on one connection: with an e-mail that nobody
// has, another one each time, and with the e-mail of a user and a wrong password. The order is random in
// each round, so that both kinds see the same noise. Ten rounds before do not count. A time is from the
// start of the request to the end of the response, which must be the rejection of a wrong password: a
// throttled sign-in is faster. Failed sign-ins are throttled by account and by address. Each account is
// therefore tried 25 times, and each try comes from another address (X-Forwarded-For).
//
// The bench reports in which share of all pairs of tries, one of each kind, the unknown e-mail was
// slower. Equal kinds are near 50 %. The bench fails outside of the range in which two equal kinds are
// in 19 of 20 runs (the Mann-Whitney statistic).
import { randomBytes, randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { startFleet } from '../fleet/processes.mjs';
import { createClient, sendOnce } from '../shared/client.mjs';
import { createReport } from '../shared/report.mjs';
import { percent, quantile } from '../shared/statistics.mjs';

const { values } = parseArgs({ options: { accounts: { type: 'string', default: '9' } } });
const accounts = Number(values.accounts);
const WARM_UP = 10;
/** Fewer than the 30 failures that an account is allowed. */
const TRIES_PER_ACCOUNT = 25;
const rounds = accounts * TRIES_PER_ACCOUNT - WARM_UP;

const hex = (bytes) => randomBytes(bytes).toString('hex');
const newEmail = () => `${hex(8)}@example.test`;
const newAddress = () => `2001:db8:${hex(2)}:${hex(2)}:${hex(2)}::1`;

async function createUsers({ replica, tokens }) {
  const emails = Array.from({ length: accounts }, newEmail);
  for (const email of emails) {
    const body = { email, name: 'Somebody', role: 'viewer', password: hex(12) };
    await sendOnce(replica.url, { method: 'POST', path: '/api/v1/users', key: tokens.admin, body });
  }
  return emails;
}

/** The time of a refused sign-in in milliseconds. @throws if the response is another one */
async function timeOf(client, email) {
  const { status, body, latency } = await client.send({
    method: 'POST',
    path: '/api/v1/auth/login',
    headers: { 'x-forwarded-for': newAddress() },
    body: { email, password: `wrong ${hex(12)}` },
  });
  const { code } = JSON.parse(body);
  if (code !== 'invalid_credentials') throw new Error(`a sign-in was answered with ${status} ${code}`);
  return latency;
}

async function measure(client, emails) {
  const times = { unknown: [], wrong: [] };
  for (let round = -WARM_UP; round < rounds; round += 1) {
    const kinds = randomInt(2) === 0 ? ['unknown', 'wrong'] : ['wrong', 'unknown'];
    for (const kind of kinds) {
      const email = kind === 'unknown' ? newEmail() : emails[(round + WARM_UP) % emails.length];
      const time = await timeOf(client, email);
      if (round >= 0) times[kind].push(time);
    }
  }
  return times;
}

const ms = (milliseconds) => `${milliseconds.toFixed(2)} ms`;
const { report, end } = createReport();
const fleet = await startFleet({ TRUST_PROXY: 'loopback' });
try {
  const client = createClient({ url: fleet.replica.url });
  try {
    const { unknown, wrong } = await measure(client, await createUsers(fleet));
    client.end();
    for (const [kind, times] of Object.entries({ 'unknown e-mail': unknown, 'wrong password': wrong })) {
      const quartiles = `quartiles ${ms(quantile(times, 0.25))} and ${ms(quantile(times, 0.75))}`;
      report(`${kind}: median ${ms(quantile(times, 0.5))}, ${quartiles} (${times.length} tries)`);
    }
    const pairs = unknown.flatMap((one) => wrong.map((other) => Number(one > other)));
    const slower = pairs.reduce((sum, isSlower) => sum + isSlower, 0) / pairs.length;
    const spread = 1.96 * Math.sqrt((2 * rounds + 1) / (12 * rounds * rounds));
    report(
      `the unknown e-mail was slower in ${percent(slower)} of all pairs; equal kinds: ` +
        `${percent(0.5 - spread)} to ${percent(0.5 + spread)}`,
      Math.abs(slower - 0.5) <= spread ? 'pass' : 'fail',
    );
  } finally {
    client.close();
  }
} finally {
  await fleet.stop();
}
end();
