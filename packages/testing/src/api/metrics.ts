import { readFileSync } from 'node:fs';

/** A metric: its type and the names of its labels. */
export type MetricTable = Readonly<Record<string, { readonly type: string; readonly labels: readonly string[] }>>;

const TABLE = new URL('../../../../docs/metrics.md', import.meta.url);
const ROW = /^\| `(\w+)` \| (\w+) \| (\w+)(?:, state)? \|([^|]*)\|/gm;

/** The metrics of a service that the documentation lists. */
export function documentedMetrics(service: 'hub' | 'fleet'): MetricTable {
  const rows = [...readFileSync(TABLE, 'utf8').matchAll(ROW)].filter(([, , of]) => of === 'both' || of === service);
  return Object.fromEntries(
    rows.map(([, name = '', , type = '', labels = '']) => [
      name,
      { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label).sort() },
    ]),
  );
}

/**
 * The metrics of a response of `/metrics`, without those of the library. Labels are those of the
 * samples.
 */
export function reportedMetrics(text: string): MetricTable {
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].filter(
    ([, name = '']) => !/^(?:process|nodejs)_/.test(name),
  );
  return Object.fromEntries(
    types.map(([, name = '', type = '']) => {
      const samples = [...text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\} `, 'gm'))];
      const labels = samples.flatMap(([, given = '']) =>
        [...given.matchAll(/\b(\w+)="/g)].map(([, label = '']) => label),
      );
      return [name, { type, labels: [...new Set(labels)].filter((label) => label !== 'le').sort() }];
    }),
  );
}
