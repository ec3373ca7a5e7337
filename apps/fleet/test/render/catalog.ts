import { readdirSync, readFileSync } from 'node:fs';
import { type WorkloadSpec, workloadDefaults, workloadFields } from '@svc/contract/fleet';
import { parse } from 'yaml';
import { z } from 'zod';

const folder = new URL('../../../../infra/catalog/templates/', import.meta.url);
const workload = z.object(workloadFields);

/** The spec of each template of the starter catalog, with its slug. */
export const starterCatalog: readonly (readonly [slug: string, spec: WorkloadSpec])[] = readdirSync(folder)
  .sort()
  .map((file) => [
    file.replace(/\.yaml$/, ''),
    workload.parse({ ...workloadDefaults, ...parse(readFileSync(new URL(file, folder), 'utf8')) }),
  ]);

/** The spec of the template with this slug. */
export function template(slug: string): WorkloadSpec {
  const found = starterCatalog.find(([name]) => name === slug);
  if (!found) throw new Error(`the starter catalog has no ${slug}`);
  return found[1];
}
