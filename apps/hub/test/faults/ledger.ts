import { ask, type Seen } from '@svc/testing/faults';

interface Written {
  /** The last version that was acknowledged, and the last that was sent. */
  readonly acknowledged: number;
  readonly sent: number;
}

interface Shown {
  readonly id: string;
  readonly slug: string;
  readonly description: string;
}

interface Place {
  /** Changes when the hub moves. */
  readonly url: () => string;
  readonly admin: string;
  readonly categoryId: string;
  /** Bytes that each template has beside its members: more than a page of PostgreSQL holds. */
  readonly ballast?: () => string;
}

/** Writes templates, and keeps book of what was acknowledged: the list of what must not be lost. */
export function openLedger({ url, admin, categoryId, ballast = () => '' }: Place) {
  const book = new Map<string, Written>();
  let writes = 0;

  const send = async (slug: string, { version, id }: { version: number; id?: string }) => {
    const acknowledged = book.get(slug)?.acknowledged ?? 0;
    book.set(slug, { acknowledged, sent: version });
    const content = { description: `version ${version}`, documentation: ballast() };
    const asked = id
      ? { method: 'PUT', body: { id, ...content } }
      : { method: 'POST', body: { name: slug, slug, category_id: categoryId, ...content } };
    const seen = await ask(`${url()}/api/v1/admin/templates`, { authorization: admin, ...asked });
    if (seen.status === (id ? 200 : 201)) {
      book.set(slug, { acknowledged: version, sent: version });
      writes++;
    }
    return seen;
  };

  /** A writer: creates a template, changes it twice, begins the next. */
  const writer = (name: string): (() => Promise<Seen>) => {
    let created = 0;
    let slug = '';
    let id: string | undefined;
    let version = 0;
    return async () => {
      if (id === undefined || version === 3) {
        [slug, id, version] = [`${name}-${++created}`, undefined, 0];
      }
      version++;
      const seen = await send(slug, id === undefined ? { version } : { version, id });
      if (seen.status === 201) id = seen.body.template.id;
      return seen;
    };
  };

  /** Acknowledged writes that are not there, in words: an empty list, or something was lost. */
  const lost = async (): Promise<string[]> => {
    const shown = async (path: string): Promise<Map<string, Shown>> => {
      const { status, body } = await ask(`${url()}${path}`, { authorization: admin });
      if (status !== 200) throw new Error(`${path} answered ${status}`);
      return new Map(body.templates.map((template: Shown) => [template.slug, template]));
    };
    const places = {
      'the table': await shown('/api/v1/admin/templates'),
      'the history': await shown('/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z'),
    };
    return Object.entries(places).flatMap(([place, templates]) =>
      [...book].flatMap(([slug, written]) =>
        complaintOf(written, templates.get(slug)).map((is) => `${slug} ${is} in ${place}`),
      ),
    );
  };
  return { writer, lost, acknowledged: () => writes };
}

/** A write without an answer may have been done or not; one that was acknowledged is there. */
function complaintOf({ acknowledged, sent }: Written, found: Shown | undefined): string[] {
  if (!found) return acknowledged > 0 ? ['is not'] : [];
  const version = Number(found.description.split(' ')[1]);
  return version >= acknowledged && version <= sent ? [] : [`is at ${version}, not at ${acknowledged} to ${sent},`];
}
