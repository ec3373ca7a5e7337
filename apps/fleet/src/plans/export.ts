import { setImmediate } from 'node:timers/promises';
import { type DocumentKind, type ObjectDocument, planLimits } from '@svc/contract/fleet';
import { formatYaml } from '@svc/documents';
import { Problem } from '@svc/http';
import { applications } from '../applications/rows.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { documentsOfApplications } from './objects/export-application.ts';
import { documentsOfDeployments } from './objects/export-deployment.ts';
import { portionsOf, type Sized } from './portions.ts';

type Reader = Prisma.TransactionClient;

interface Selection {
  readonly set?: string | undefined;
  readonly name?: string | undefined;
}

interface Exported {
  readonly text: string;
  readonly left_out: { kind: DocumentKind; name: string; reason: string }[];
}

interface Selected extends Sized {
  readonly kind: DocumentKind;
  readonly name: string;
}

/** The maximum number of bytes that an export reads. */
const MAX_READ = 40 * 2 ** 20;

/**
 * Documents of what exists, in the order of the names. Their plan is unchanged. @throws 413 for more
 * than a plan can have
 */
export async function exportDocuments(reader: Reader, selection: Selection): Promise<Exported> {
  const selected = new Map((await select(reader, selection)).map((object) => [object.id, object]));
  const texts: string[] = [];
  const leftOut: Exported['left_out'] = [];
  let size = 0;
  for (const portion of portionsOf([...selected.values()])) {
    const ofKind = (kind: DocumentKind) => portion.filter((id) => selected.get(id)?.kind === kind);
    const documents = new Map<string, ObjectDocument | undefined>([
      ...(await documentsOfDeployments(reader, ofKind('deployment'))),
      ...(await documentsOfApplications(reader, ofKind('application'))),
    ]);
    for (const id of portion) {
      const object = selected.get(id);
      if (!object || !documents.has(id)) continue;
      const { kind, name } = object;
      const document = documents.get(id);
      if (document === undefined) {
        leftOut.push({ kind, name, reason: 'It has values that a file can no longer set.' });
        continue;
      }
      // Other work of the process runs between two documents.
      await setImmediate();
      const text = formatYaml(document);
      size += text.length;
      if (size > planLimits.text) throw tooLarge(`The documents have more than ${planLimits.text} characters.`);
      texts.push(text);
    }
  }
  return { text: texts.join('---\n'), left_out: leftOut };
}

/** The objects that an export describes, in the order of their names. Parts belong to their applications. */
async function select(reader: Reader, { set, name }: Selection): Promise<Selected[]> {
  const conditions = (kind: DocumentKind) => {
    const ofSet =
      set === undefined
        ? Prisma.sql`true`
        : Prisma.sql`EXISTS (SELECT FROM set_objects s WHERE s.kind = ${kind} AND s.object_id = r.id AND s.set_name = ${set})`;
    return Prisma.sql`NOT r.deleting AND ${ofSet} AND ${name === undefined ? Prisma.sql`true` : Prisma.sql`r.name = ${name}`}`;
  };
  const rows = await reader.$queryRaw<Selected[]>`
    SELECT 'deployment' AS kind, r.id, r.name COLLATE "C" AS name, r.env_bytes + v.spec_bytes AS bytes FROM deployments r
    JOIN workload_revisions v ON v.workload_id = r.workload_id AND v.revision = r.revision
    WHERE r.application_id IS NULL AND ${conditions('deployment')}
    UNION ALL SELECT 'application', r.id, r.name COLLATE "C", (${applications.bytes} + octet_length(s.spec::text))::int
    FROM applications r
    JOIN application_generations g ON g.application_id = r.id AND g.generation = r.generation
    JOIN application_specs s ON s.application_id = r.id AND s.spec_version = g.spec_version
    WHERE ${conditions('application')}
    ORDER BY name LIMIT ${planLimits.documents + 1}`;
  if (rows.length > planLimits.documents) throw tooLarge(`There are more than ${planLimits.documents} documents.`);
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  if (bytes > MAX_READ) throw tooLarge(`The objects have more than ${MAX_READ} bytes of configuration.`);
  return rows;
}

const tooLarge = (reason: string) =>
  new Problem('payload_too_large', `${reason} Select those of a set or with a name.`);
