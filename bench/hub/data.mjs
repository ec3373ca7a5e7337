// A catalog with organizations, keys and grants. Its contents depend only on the number of
// templates.
//
// Searches for words that are drawn like those of the catalog match 0.85 % of the templates
// (median), 2.3 % (mean) or 12 % (maximum), with any number of templates.
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { hashSecretToken, newSecretToken } from '@svc/auth';
import { fold, searchText } from '@svc/contract';
import { withClient } from '../shared/database.mjs';
import { textOf } from './words.mjs';

const CATEGORIES = 40;
/** The first keys belong to different organizations. */
export const ORGANIZATIONS = 500;
const KEYS = 1000;
const GRANTS_PER_ORGANIZATION = 4;
const BATCH = 10_000;

const CLOCK = `UPDATE catalog_clock SET at = greatest(date_trunc('milliseconds', clock_timestamp()), at + interval '1 millisecond')`;

/** The id of a template. */
export const idOf = (number) =>
  createHash('md5')
    .update(`template ${number}`)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** What the hub stores for the name and description of a template. */
const columnsOf = ({ name, description }) => ({ search: searchText(name, description), sort: fold(name) });

/** Every fourth category is private. */
const FIRST = [
  CLOCK,
  `INSERT INTO organizations (id, name, slug, updated_at)
   SELECT md5('organization ' || n)::uuid, 'Organization ' || n, 'organization-' || n, now()
   FROM generate_series(1, ${ORGANIZATIONS}) n`,
  `INSERT INTO subscriptions (id, org_id, tier, updated_at)
   SELECT md5('subscription ' || n)::uuid, md5('organization ' || n)::uuid, 'free', now()
   FROM generate_series(1, ${ORGANIZATIONS}) n`,
  `INSERT INTO categories (id, name, slug, sort_name, is_private)
   SELECT md5('category ' || n)::uuid, 'Category ' || n, 'category-' || n, 'category ' || n, n % 4 = 0
   FROM generate_series(1, ${CATEGORIES}) n`,
];

/**
 * One template in ten is hidden, and one in twenty belongs to an organization. A template has about
 * 2 KB.
 */
const TEMPLATES = `
  INSERT INTO templates (id, name, slug, category_id, image_name, description, documentation, tags, is_public, is_featured,
    owner_org_id, env_schema, ports, search_text, sort_name)
  SELECT id, name, 'template-' || n, md5('category ' || (1 + n % ${CATEGORIES}))::uuid,
    'team/app-' || n, description, repeat(md5(n::text) || ' ', 36), ARRAY['t' || n % 50, 'u' || n % 7],
    n % 10 <> 0, n % 100 = 1, CASE WHEN n % 20 = 0 THEN md5('organization ' || (1 + n % ${ORGANIZATIONS}))::uuid END,
    '[{"name":"PORT","description":"The port","required":false,"default":"8080"}]', '[{"containerPort":8080}]',
    search_text, sort_name
  FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[])
    AS given (n, id, name, description, search_text, sort_name)`;

const LAST = [
  `INSERT INTO catalog_tags (tag, folded) SELECT DISTINCT tag, tag FROM templates, unnest(tags) AS s(tag) ON CONFLICT DO NOTHING`,
  `INSERT INTO catalog_access (id, org_id, category_id)
   SELECT md5('grant ' || n || ' ' || k)::uuid, md5('organization ' || n)::uuid,
     md5('category ' || 4 * (1 + (n + 3 * k) % ${CATEGORIES / 4}))::uuid
   FROM generate_series(1, ${ORGANIZATIONS}) n, generate_series(0, ${GRANTS_PER_ORGANIZATION - 1}) k`,
];

async function insertTemplates(client, templates) {
  for (let first = 1; first <= templates; first += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, templates - first + 1) }, (_, index) => first + index);
    const texts = numbers.map(textOf);
    const columns = texts.map(columnsOf);
    await client.query(TEMPLATES, [
      numbers,
      numbers.map(idOf),
      texts.map(({ name }) => name),
      texts.map(({ description }) => description),
      columns.map(({ search }) => search),
      columns.map(({ sort }) => sort),
    ]);
  }
}

/** Applications of three parts, of about 2 KB. */
const APPLICATIONS = `
  INSERT INTO applications (id, name, slug, category_id, description, documentation, parts, generated, search_text, sort_name)
  SELECT md5('application ' || n)::uuid, 'Application ' || n, 'application-' || n, md5('category ' || (1 + n % ${CATEGORIES}))::uuid,
    'Application ' || n, repeat(md5(n::text) || ' ', 36),
    (SELECT jsonb_agg(jsonb_build_object('name', part, 'image_name', 'team/' || part || n)) FROM unnest(ARRAY['database', 'web', 'worker']) part),
    '[{"name":"password"}]', 'application ' || n, 'application ' || n
  FROM generate_series(1, $1::int) n`;

/** Fills the database of a hub. @returns the secrets of the API keys */
export async function fillHub(connectionString, { templates, applications = 0, keys = KEYS }) {
  const secrets = Array.from({ length: keys }, () => newSecretToken('svcc_'));
  await withClient(connectionString, async (client) => {
    await client.query('BEGIN');
    for (const statement of FIRST) await client.query(statement);
    await insertTemplates(client, templates);
    await client.query(APPLICATIONS, [applications]);
    for (const statement of LAST) await client.query(statement);
    await client.query(
      `INSERT INTO api_keys (id, org_id, name, key_hash, key_prefix)
       SELECT gen_random_uuid(), md5('organization ' || (1 + n % ${ORGANIZATIONS}))::uuid, 'bench', hash, 'svcc_bench'
       FROM unnest($1::text[]) WITH ORDINALITY AS given (hash, n)`,
      [secrets.map(hashSecretToken)],
    );
    await client.query('COMMIT');
    await client.query('VACUUM ANALYZE');
  });
  return secrets;
}

/** Edits templates at a rate, in turn in an open and in a private category. */
export function startWriting(connectionString, perSecond) {
  let stopped = false;
  const ended = withClient(connectionString, async (client) => {
    const started = performance.now();
    for (let count = 0; !stopped; count += 1) {
      const category = count % 2 === 0 ? 1 : 3; // the second and the fourth one
      const number = CATEGORIES * (1 + (count % 200)) + category;
      const description = `Edit ${count}`;
      const { search } = columnsOf({ ...textOf(number), description });
      await client.query(`BEGIN; ${CLOCK};
        UPDATE templates SET description = '${description}', search_text = ${client.escapeLiteral(search)}
        WHERE id = '${idOf(number)}'; COMMIT`);
      await delay(Math.max(0, started + (1000 * (count + 1)) / perSecond - performance.now()));
    }
  });
  return {
    stop: () => {
      stopped = true;
      return ended;
    },
  };
}
