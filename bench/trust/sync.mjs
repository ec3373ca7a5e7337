// What does the first sync of signed templates cost a fleet, beside that of unsigned ones?
//
//   pnpm bench:trust:sync [--templates <default 4000>] [--record]
//
// Method: two fleets run as in production, each with its own database. One imports a bundle without signatures, with the
// policy off; the other one the same templates, signed, and requires signatures. An import is the first sync with a source that
// takes no time. The CPU time of the process is measured until the response, which comes after the verification. Meanwhile, one
// request after the other reads the categories; its CPU time is measured afterwards, and subtracted. The verification of one
// template is measured in this process. The goals are that the signatures cost at most as many verifications as there are templates, and that
// the 99th percentile of the responses is at most twice that of the import without signatures.
import { generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { categoryDefaults, templateDefaults } from '@svc/contract';
import { acceptKeyring, publicKeyOfPem, signKeyring, signTemplate, verifyTemplate } from '@svc/trust';
import { startPostgres } from '../shared/database.mjs';
import { atMost, createReport } from '../shared/report.mjs';
import { createService } from '../shared/services.mjs';
import { micro, p99 } from '../shared/statistics.mjs';

const { values } = parseArgs({
  options: { templates: { type: 'string', default: '4000' }, record: { type: 'boolean', default: false } },
});
const count = Number(values.templates);
const PAGE = 250;
/** Between two reads of the categories. */
const READ_MS = 20;
const MEASURED_READS = 500;
const GOALS = { verifications: 1, latency: 2 };
const { report, end } = createReport();

async function aSigner() {
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = await publicKeyOfPem(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return { key, sign: (input) => sign(null, input, privateKey) };
}

const [root, signer] = [await aSigner(), await aSigner()];
const now = new Date();
const keyring = await signKeyring(
  {
    publisher: 'bench',
    version: 1,
    issued_at: now.toISOString(),
    expires_at: new Date(now.getTime() + 86_400_000).toISOString(),
    keys: [signer.key],
  },
  root,
);

const category = {
  ...categoryDefaults,
  id: randomUUID(),
  name: 'Bench',
  slug: 'bench',
  created_at: now,
  updated_at: now,
};
const templates = Array.from({ length: count }, (_, index) => ({
  ...templateDefaults,
  id: randomUUID(),
  name: `Template ${index}`,
  slug: `template-${index}`,
  category_id: category.id,
  category_name: category.name,
  category_slug: category.slug,
  category_icon: '',
  image_name: 'bench',
  download_count: 0,
  documentation: 'A line of text — ünder test\n'.repeat(140),
  env: Array.from({ length: 10 }, (_, nth) => ({ name: `NAME_${nth}`, value: `value ${nth}` })),
  created_at: now,
  updated_at: now,
}));
const signed = [];
for (const template of templates) {
  const signature = await signTemplate(template, { publisher: 'bench', serial: 1, issuedAt: now }, signer);
  signed.push({ ...template, signatures: [signature] });
}

/** The bundle of a catalog, as the hub writes it. */
function bundleOf(shown) {
  const pages = [];
  for (let start = 0; start < shown.length; start += PAGE) {
    const has_more = start + PAGE < shown.length;
    const checked_at = has_more ? new Date(0) : now;
    const page = { templates: shown.slice(start, start + PAGE), removed: [], checked_at, cursor: `page-${start}` };
    pages.push({ page: { ...page, reset: start === 0, has_more } });
  }
  const header = { format: 'svc-catalog-bundle', version: 1, organization: null };
  const publishers = [{ slug: 'bench', name: 'Bench', keyring, transitions: [] }];
  const lines = [header, ...pages, { categories: [category] }, { publishers }, { end: true }];
  return gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { level: 1 });
}

const postgres = await startPostgres({});

/** Imports a bundle into a new fleet. @returns the CPU time, and the times of responses meanwhile, in milliseconds */
async function measure(name, shown, prepare) {
  const environment = {
    DATABASE_URL: await postgres.create(name),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  };
  const service = createService({ app: 'fleet', environment });
  try {
    const { secret } = JSON.parse(await service.command('create-token', '--name', 'bench', '--role', 'admin'));
    const fleet = await service.start();
    const ask = async (method, path, body, type = 'application/json') => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': type };
      const response = await fetch(`${fleet.url}/api/v1${path}`, { method, headers, body });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return response.json();
    };
    await prepare(ask);
    const times = [];
    let isOver = false;
    const reading = (async () => {
      for (; !isOver; await delay(READ_MS)) {
        const started = performance.now();
        await ask('GET', '/catalog/categories');
        times.push(performance.now() - started);
      }
    })();
    const before = fleet.cpu();
    const { counts } = await ask('POST', '/catalog/bundle', bundleOf(shown), 'application/gzip');
    const cpu = fleet.cpu() - before;
    isOver = true;
    await reading;
    if (counts.templates !== shown.length) throw new Error(`${counts.templates} templates were imported`);
    const beforeReads = fleet.cpu();
    for (let read = 0; read < MEASURED_READS; read += 1) await ask('GET', '/catalog/categories');
    const ofReads = ((fleet.cpu() - beforeReads) / MEASURED_READS) * times.length;
    return { cpu: cpu - ofReads, times };
  } finally {
    await service.stop();
  }
}

async function costOfVerification() {
  const pinned = { publisher: 'bench', root: root.key, slugs: ['*'], images: ['*'], secrets: [] };
  const accepted = await acceptKeyring(pinned, keyring, { now });
  const verification = { publishers: [{ ...pinned, ...accepted }], history: { remembered: [], owner: undefined }, now };
  const verifyAll = async () => {
    for (const template of signed) await verifyTemplate(template, template.signatures, verification);
  };
  await verifyAll();
  const { user, system } = process.cpuUsage();
  await verifyAll();
  const after = process.cpuUsage({ user, system });
  return (after.user + after.system) / 1000 / signed.length;
}

try {
  const plain = await measure('plain', templates, async () => undefined);
  const verified = await measure('verified', signed, async (ask) => {
    await ask(
      'POST',
      '/settings/publishers',
      JSON.stringify({ slug: 'bench', name: 'Bench', root: root.key, images: ['*'] }),
    );
    await ask('PUT', '/settings/trust', JSON.stringify({ mode: 'require' }));
  });
  const verification = await costOfVerification();
  const more = (verified.cpu - plain.cpu) / count;
  report(
    `a first sync of ${count} templates: ${(plain.cpu / 1000).toFixed(2)} s of CPU, signed ${(verified.cpu / 1000).toFixed(2)} s`,
  );
  report(
    `the signature of a template: ${micro(more)} of CPU, and its verification alone ${micro(verification)}`,
    atMost(more, verification * GOALS.verifications),
  );
  report(
    `99 of 100 responses meanwhile: ${p99(verified.times).toFixed(1)} ms, without signatures ${p99(plain.times).toFixed(1)} ms`,
    atMost(p99(verified.times), GOALS.latency * p99(plain.times)),
  );
} finally {
  await postgres.stop();
}
end(values.record ? { what: 'trust-sync' } : undefined, { templates: count });
