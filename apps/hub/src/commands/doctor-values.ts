import { storedValueProblems, template } from '@svc/contract';
import { type Finding, storedValuesFinding } from '@svc/http';
import type { Database } from '../database/client.ts';

/** The number of templates that one statement reads. */
const PAGE = 200;

/** The members with rules for new values. */
const members = {
  name: true,
  version: true,
  tags: true,
  memory_request: true,
  vram_request: true,
  icon_url: true,
  env: true,
  env_schema: true,
  secret_refs: true,
} as const;
const values = template.pick(members);

/** Finds the templates with values that can no longer be written. */
export async function checkStoredValues({ client }: Database): Promise<Finding> {
  const [table] = await client.$queryRaw<{ exists: boolean }[]>`SELECT to_regclass('templates') IS NOT NULL AS exists`;
  return storedValuesFinding('template', async (after) => {
    if (!table?.exists) return [];
    const rows = await client.template.findMany({
      select: { id: true, slug: true, ...members },
      where: after === null ? {} : { id: { gt: after } },
      orderBy: { id: 'asc' },
      take: PAGE,
    });
    return rows.map(({ id, slug, ...row }) => ({ id, name: slug, problems: storedValueProblems(values.parse(row)) }));
  });
}
