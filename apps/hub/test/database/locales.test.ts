// The hub folds text itself, so a search has the same results with every locale of the database.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { addressOf, onServer } from '@svc/testing';
import { startWorld } from '../world.ts';

const server = process.env.TEST_POSTGRES_URL ?? ''; // set by the global setup
const MIGRATIONS = path.resolve(import.meta.dirname, '../../../../prisma/hub/migrations');

const migrations = readdirSync(MIGRATIONS, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

const locales = {
  C: "LOCALE 'C'",
  'Turkish by ICU': "LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR'",
  'Lithuanian by ICU': "LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'lt-LT'",
  'the root locale by ICU': "LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'und'",
};

const NAMES = {
  eclair: 'Éclair',
  decomposed: 'E\u0301cole', // NFKC composes it to one character
  street: 'Große STRASSE',
  capitalSharp: 'GROẞ',
  istanbul: 'İstanbul',
  iron: 'IRON ı',
  wide: 'Ｗｉｄｅ １２３',
  ligature: 'Oﬃce ﬁle',
  sigma: 'ΣΟΦΟΣ',
  zebra: 'zebra',
  apple: 'Apple',
  angstrom: '\u212Bngström', // the Ångström sign
};

/**
 * Folding is NFKC and lower case. A search also folds final sigma, ß and ẞ to ss, and İ and ı to i.
 */
const SEARCHES: readonly [term: string, finds: readonly (keyof typeof NAMES)[]][] = [
  ['é', ['eclair', 'decomposed']],
  ['É', ['eclair', 'decomposed']],
  ['E\u0301C', ['eclair', 'decomposed']],
  ['éclair', ['eclair']],
  ['ß', ['street', 'capitalSharp']],
  ['ẞ', ['street', 'capitalSharp']],
  ['große', ['street']],
  ['groẞ', ['street', 'capitalSharp']],
  ['strasse', ['street']],
  ['straße', ['street']],
  ['İstanbul', ['istanbul']],
  ['i\u0307stan', ['istanbul']],
  ['istan', ['istanbul']],
  ['iron', ['iron']],
  ['IRON', ['iron']],
  ['ıron', ['iron']],
  ['ırO', ['iron']],
  ['σοφος', ['sigma']],
  ['wide 123', ['wide']],
  ['ＷＩＤＥ', ['wide']],
  ['office FILE', ['ligature']],
  ['ﬃ', ['ligature']],
  ['σοφο', ['sigma']],
  ['ångström', ['angstrom']],
];

const ORDER: readonly (keyof typeof NAMES)[] = [
  'apple',
  'capitalSharp',
  'street',
  'iron',
  'istanbul',
  'ligature',
  'wide',
  'zebra',
  'angstrom',
  'eclair',
  'decomposed',
  'sigma',
];

describe.each(Object.entries(locales))('a database with the locale %s', (_, locale) => {
  const world = createDatabase(locale).then((database) => startWorld({ database }));
  const made = world.then(async ({ aCategory, aTemplate }) => {
    const { id: category_id } = await aCategory();
    for (const [slug, name] of Object.entries(NAMES)) await aTemplate({ slug: slug.toLowerCase(), name, category_id });
  });
  afterAll(async () => (await world).stop());
  const find = async (query: string) => {
    await made;
    const { body } = await (await world).anonymous.get(`/api/v1/catalog/templates?${query}`);
    return body.templates.map(({ slug }: { slug: string }) => slug);
  };

  test.each(SEARCHES)('a search for %j finds %j', async (term, finds) => {
    const found = await find(`search=${encodeURIComponent(term)}`);
    expect(found.sort()).toEqual(finds.map((slug) => slug.toLowerCase()).sort());
  });

  test('sorts by the code points of the folded names', async () => {
    expect(await find('')).toEqual(ORDER.map((slug) => slug.toLowerCase()));
  });
});

/**
 * A migrated database. Its planner uses the trigram index where possible, because trigrams depend
 * on the locale.
 */
async function createDatabase(locale: string) {
  const name = `test_locale_${randomBytes(6).toString('hex')}`;
  await onServer(server, async (client) => {
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' ${locale}`);
    await client.query(`ALTER DATABASE ${name} SET enable_seqscan = off`);
  });
  const url = addressOf(server, name);
  await onServer(url, async (client) => {
    for (const name of migrations)
      await client.query(readFileSync(path.join(MIGRATIONS, name, 'migration.sql'), 'utf8'));
  });
  return {
    url,
    drop: async () => {
      await onServer(server, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
    },
  };
}
