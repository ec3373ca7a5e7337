import { ask, type LoadResult } from '@svc/testing/faults';
import { type ObjectKind, objectKinds, PARTS } from '../objects.ts';

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
  /** Documentation of each object, to make its row larger than a page of PostgreSQL. */
  readonly documentation?: () => string;
}

/** Writes templates and applications, and records the acknowledged writes, which must not be lost. */
export function openLedger({ url, admin, categoryId, documentation = () => '' }: LedgerOptions) {
  const versionsBySlug = new Map<string, Versions>();
  let writes = 0;

  const send = async (of: ObjectKind, slug: string, { version, id }: { version: number; id?: string }) => {
    const acknowledged = versionsBySlug.get(slug)?.acknowledged ?? 0;
    versionsBySlug.set(slug, { acknowledged, sent: version });
    const content = { description: `version ${version}`, documentation: documentation() };
    const asked = id
      ? { method: 'PUT', body: { id, ...content } }
      : { method: 'POST', body: { name: slug, slug, category_id: categoryId, ...content, ...partsOf(of) } };
    const seen = await ask(() => `${url()}/api/v1/admin/${of}`, { authorization: admin, ...asked });
    if (seen.status === (id ? 200 : 201)) {
      versionsBySlug.set(slug, { acknowledged: version, sent: version });
      writes++;
    }
    return seen;
  };

  /** A writer creates a template, changes it twice, and continues with an application, and so on. */
  const writer = (name: string): (() => Promise<LoadResult>) => {
    let created = 0;
    let slug = '';
    let id: string | undefined;
    let version = 0;
    let of: ObjectKind = 'applications';
    return async () => {
      if (id === undefined || version === 3) {
        created += 1;
        of = of === 'templates' ? 'applications' : 'templates';
        slug = `${name}-${created}`;
        id = undefined;
        version = 0;
      }
      version++;
      const seen = await send(of, slug, id === undefined ? { version } : { version, id });
      if (seen.status === 201) id = (seen.body.template ?? seen.body.application).id;
      return seen;
    };
  };

  /** The acknowledged writes that are lost, as text. */
  const lost = async (): Promise<string[]> => {
    const read = async (
      of: ObjectKind,
      path: string,
    ): Promise<{ readonly objects: Shown[]; readonly pages: number }> => {
      const { status, body } = await ask(() => `${url()}${path}`, { authorization: admin });
      if (status !== 200) throw new Error(`${path} answered ${status}`);
      return { objects: body[of], pages: body.pagination?.totalPages ?? 1 };
    };
    /** The objects of both kinds that paths show. The slugs of a writer differ. */
    const shown = async (pathOf: (of: ObjectKind, page: number) => string): Promise<Map<string, Shown>> => {
      const all: Shown[] = [];
      for (const of of objectKinds) {
        for (let page = 1, last = 1; page <= last; page++) {
          const { objects, pages } = await read(of, pathOf(of, page));
          all.push(...objects);
          last = pages;
        }
      }
      return new Map(all.map((object) => [object.slug, object]));
    };
    const views = {
      'the table': await shown((of, page) => `/api/v1/admin/${of}?limit=100&page=${page}`),
      'the history': await shown((of) => `/api/v1/catalog/${of}/updates?since=1970-01-01T00:00:00Z`),
    };
    return Object.entries(views).flatMap(([view, objects]) =>
      [...versionsBySlug].flatMap(([slug, versions]) =>
        lossOf(versions, objects.get(slug)).map((loss) => `${slug} ${loss} in ${view}`),
      ),
    );
  };
  return { writer, lost, acknowledged: () => writes };
}

const partsOf = (of: ObjectKind) => (of === 'applications' ? { parts: PARTS } : {});

/** How an object differs from its writes. A write without a response may or may not be stored. */
function lossOf({ acknowledged, sent }: Versions, found: Shown | undefined): string[] {
  if (!found) return acknowledged > 0 ? ['is missing'] : [];
  const version = Number(found.description.split(' ')[1]);
  return version >= acknowledged && version <= sent ? [] : [`has version ${version}, not ${acknowledged} to ${sent},`];
}
