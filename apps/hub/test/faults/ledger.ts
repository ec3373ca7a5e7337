import { ask, type LoadResult } from '@svc/testing/faults';

interface Versions {
  /** The last acknowledged version, and the last version that was sent. */
  readonly acknowledged: number;
  readonly sent: number;
}

interface Shown {
  readonly id: string;
  readonly slug: string;
  readonly description: string;
}

interface LedgerOptions {
  /** The URL of the hub. It can change after a restart. */
  readonly url: () => string;
  readonly admin: string;
  readonly categoryId: string;
  /** Documentation of each template, to make its row larger than a page of PostgreSQL. */
  readonly documentation?: () => string;
}

/** Writes templates, and records the acknowledged writes, which must not be lost. */
export function openLedger({ url, admin, categoryId, documentation = () => '' }: LedgerOptions) {
  const versionsBySlug = new Map<string, Versions>();
  let writes = 0;

  const send = async (slug: string, { version, id }: { version: number; id?: string }) => {
    const acknowledged = versionsBySlug.get(slug)?.acknowledged ?? 0;
    versionsBySlug.set(slug, { acknowledged, sent: version });
    const content = { description: `version ${version}`, documentation: documentation() };
    const asked = id
      ? { method: 'PUT', body: { id, ...content } }
      : { method: 'POST', body: { name: slug, slug, category_id: categoryId, ...content } };
    const seen = await ask(() => `${url()}/api/v1/admin/templates`, { authorization: admin, ...asked });
    if (seen.status === (id ? 200 : 201)) {
      versionsBySlug.set(slug, { acknowledged: version, sent: version });
      writes++;
    }
    return seen;
  };

  /** A writer creates a template, changes it twice, and continues with the next template. */
  const writer = (name: string): (() => Promise<LoadResult>) => {
    let created = 0;
    let slug = '';
    let id: string | undefined;
    let version = 0;
    return async () => {
      if (id === undefined || version === 3) {
        created += 1;
        slug = `${name}-${created}`;
        id = undefined;
        version = 0;
      }
      version++;
      const seen = await send(slug, id === undefined ? { version } : { version, id });
      if (seen.status === 201) id = seen.body.template.id;
      return seen;
    };
  };

  /** The acknowledged writes that are lost, as text. */
  const lost = async (): Promise<string[]> => {
    const shown = async (path: string): Promise<Map<string, Shown>> => {
      const { status, body } = await ask(() => `${url()}${path}`, { authorization: admin });
      if (status !== 200) throw new Error(`${path} answered ${status}`);
      return new Map(body.templates.map((template: Shown) => [template.slug, template]));
    };
    const views = {
      'the table': await shown('/api/v1/admin/templates'),
      'the history': await shown('/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z'),
    };
    return Object.entries(views).flatMap(([view, templates]) =>
      [...versionsBySlug].flatMap(([slug, versions]) =>
        lossOf(versions, templates.get(slug)).map((loss) => `${slug} ${loss} in ${view}`),
      ),
    );
  };
  return { writer, lost, acknowledged: () => writes };
}

/** How a template differs from its writes. A write without a response may or may not be stored. */
function lossOf({ acknowledged, sent }: Versions, found: Shown | undefined): string[] {
  if (!found) return acknowledged > 0 ? ['is missing'] : [];
  const version = Number(found.description.split(' ')[1]);
  return version >= acknowledged && version <= sent ? [] : [`has version ${version}, not ${acknowledged} to ${sent},`];
}
