// Does the time of a refused sign-in tell whether somebody has an account?
//
//   node bench/password-times.mjs <fleet URL> <e-mails of local users, comma-separated>
//
// Method: each round asks POST /api/v1/auth/login twice, once with an e-mail that nobody has
// (another each time) and once with the known e-mail and a wrong password; which of the two comes
// first is drawn anew each round, so that whatever changes on the machine meanwhile meets both
// alike. One request at a time, over one connection that is kept; ten rounds before, for code and
// caches to be warm, don't count. A time is from the request's first byte to the answer's last.
// Every answer must be the 401 of a wrong password: a throttled one would be quicker.
//
// Failed sign-ins are throttled by account and address, so each account is tried 25 times, and each
// try comes from an address of its own (X-Forwarded-For): give nine e-mails for 215 tries. The
// fleet must run with TRUST_PROXY=loopback, and the script on the fleet's machine. Wait 15 minutes
// before another run.
//
// To read it: the medians should differ by less than the quartiles lie apart, and "slower" should
// be near 50 %: for a pair of tries, one of each kind, how often the unknown e-mail took longer.
// Between two equal kinds of 200 tries it lies within 44 and 56 % nineteen times out of twenty. The
// script judges by that, and ends with 1 outside of it.

import { randomBytes, randomInt } from 'node:crypto';

const WARM_UP = 10;
/** Fewer than the 30 failures that an account is allowed. */
const TRIES_PER_ACCOUNT = 25;

const [url, list = ''] = process.argv.slice(2);
const emails = list.split(',');
if (!url || !emails.every((email) => email.includes('@'))) {
  console.error('node bench/password-times.mjs <fleet URL> <e-mails of local users, comma-separated>');
  process.exit(2);
}
const rounds = emails.length * TRIES_PER_ACCOUNT - WARM_UP;

const hex = (bytes) => randomBytes(bytes).toString('hex');
const unknownEmail = () => `${hex(8)}@${emails[0].split('@', 2)[1]}`;
const anAddress = () => `2001:db8:${hex(2)}:${hex(2)}:${hex(2)}::1`;

async function timeOf(account) {
  const started = performance.now();
  const answer = await fetch(new URL('/api/v1/auth/login', url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': anAddress() },
    body: JSON.stringify({ email: account, password: `wrong ${hex(12)}` }),
  });
  const { code } = await answer.json();
  const took = performance.now() - started;
  if (code !== 'invalid_credentials') throw new Error(`a try was answered ${answer.status} ${code}`);
  return took;
}

const times = { unknown: [], wrong: [] };
for (let round = -WARM_UP; round < rounds; round += 1) {
  const kinds = randomInt(2) === 0 ? ['unknown', 'wrong'] : ['wrong', 'unknown'];
  const email = emails[(round + WARM_UP) % emails.length];
  for (const kind of kinds) {
    const took = await timeOf(kind === 'unknown' ? unknownEmail() : email);
    if (round >= 0) times[kind].push(took);
  }
}

const quantile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
const shown = (milliseconds) => `${milliseconds.toFixed(2)} ms`;
for (const [kind, taken] of Object.entries(times)) {
  const sorted = taken.toSorted((a, b) => a - b);
  const [lower, median, upper] = [0.25, 0.5, 0.75].map((part) => shown(quantile(sorted, part)));
  const what = kind === 'unknown' ? 'unknown e-mail' : 'wrong password';
  console.log(`${what}: median ${median}, quartiles ${lower} and ${upper} (${sorted.length} tries)`);
}

const pairs = times.unknown.flatMap((unknown) => times.wrong.map((wrong) => Number(unknown > wrong)));
const slower = pairs.reduce((sum, one) => sum + one, 0) / pairs.length;
// Of the Mann-Whitney statistic.
const spread = 1.96 * Math.sqrt((2 * rounds + 1) / (12 * rounds * rounds));
console.log(`the unknown e-mail was slower in ${(slower * 100).toFixed(1)} % of all pairs`);
console.log(`equal kinds: ${((0.5 - spread) * 100).toFixed(1)} to ${((0.5 + spread) * 100).toFixed(1)} %`);
process.exitCode = Math.abs(slower - 0.5) > spread ? 1 : 0;
