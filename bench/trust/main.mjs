// What does the verification of a signed template cost?
//
//   pnpm bench:trust [--rounds <default 7>] [--record]
//
// Method: a template of the usual size, without and with documentation of several sizes, is signed with
// an Ed25519 and with a P-256 key, and verified again and again in this process. A cost is the CPU time
// of a round divided by its verifications; the median of the rounds counts. The first round is a warm-up.
// The goals are 1 ms for a template with 4 KB of documentation, and a cost per byte of documentation that
// does not increase with its size.
import { generateKeyPairSync, sign } from 'node:crypto';
import { parseArgs } from 'node:util';
import { templateDefaults } from '@svc/contract';
import { acceptKeyring, publicKeyOfPem, signKeyring, signTemplate, verifyTemplate } from '@svc/trust';
import { atMost, createReport } from '../shared/report.mjs';
import { median, micro } from '../shared/statistics.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, record: { type: 'boolean', default: false } },
});
const rounds = Number(values.rounds);
const GOAL_MS = 1;
/** The growth of the cost per byte from one size to the next, which is four times larger. */
const GOAL_GROWTH = 1.25;
const KB = 1000;
const { report, end } = createReport();

async function signerOf({ privateKey }) {
  const key = await publicKeyOfPem(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const hash = key.alg === 'ES256' ? 'sha256' : null;
  return { key, sign: (input) => sign(hash, input, { key: privateKey, dsaEncoding: 'ieee-p1363' }) };
}

const root = await signerOf(generateKeyPairSync('ed25519'));
const signers = [
  ['Ed25519', await signerOf(generateKeyPairSync('ed25519'))],
  ['ES256', await signerOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }))],
];
const now = new Date();
const keyring = {
  publisher: 'bench',
  version: 1,
  issued_at: now.toISOString(),
  expires_at: new Date(now.getTime() + 90 * 86_400_000).toISOString(),
  keys: signers.map(([, { key }]) => key),
};
const pinned = { publisher: 'bench', root: root.key, slugs: ['*'], images: ['*'], secrets: ['*'] };
const accepted = await acceptKeyring(pinned, await signKeyring(keyring, root), { now });
const verification = {
  publishers: [{ ...pinned, ...accepted }],
  history: { remembered: [], owner: 'bench' },
  now,
};

const templateWith = (bytes) => ({
  ...templateDefaults,
  name: 'Bench',
  slug: 'bench',
  documentation: 'A line of text — ünder test\n'.repeat(Math.ceil(bytes / 30)).slice(0, bytes),
  image_name: 'bench',
  env: Array.from({ length: 10 }, (_, index) => ({ name: `NAME_${index}`, value: `value ${index}` })),
});

async function costOf(work, count) {
  const costs = [];
  for (let round = 0; round <= rounds; round += 1) {
    const before = process.cpuUsage();
    for (let done = 0; done < count; done += 1) await work();
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / 1000 / count);
  }
  return median(costs.slice(1));
}

for (const [name, signer] of signers) {
  const template = templateWith(4 * KB);
  const issue = { publisher: 'bench', serial: 1, issuedAt: now };
  const signatures = [await signTemplate(template, issue, signer)];
  const cost = await costOf(() => verifyTemplate(template, signatures, verification), 200);
  report(`a verification with ${name} and 4 KB of documentation: ${micro(cost)} of CPU`, atMost(cost, GOAL_MS));
  const signing = await costOf(() => signTemplate(template, issue, signer), 100);
  report(`a signature with ${name}, ${signatures[0].length} bytes: ${micro(signing)} of CPU`);
}

const signer = signers[0][1];
let smaller;
for (const size of [0, 30, 120, 480]) {
  const template = templateWith(size * KB);
  const signatures = [await signTemplate(template, { publisher: 'bench', serial: 1, issuedAt: now }, signer)];
  const cost = await costOf(() => verifyTemplate(template, signatures, verification), 50);
  const without = smaller?.without ?? cost;
  const perByte = size === 0 ? undefined : (cost - without) / size;
  const goal = smaller?.perByte === undefined ? '' : atMost(perByte, smaller.perByte * GOAL_GROWTH);
  report(`a verification with ${size} KB of documentation: ${micro(cost)} of CPU`, goal);
  smaller = { without, perByte };
}
end(values.record ? { what: 'trust' } : undefined, { rounds });
