import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const root = path.resolve(import.meta.dirname, '../../..');
const folder = path.resolve(import.meta.dirname, '..');
export const read = (name: string): string => fs.readFileSync(path.join(root, name), 'utf8');

const rule = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook_url: z.string() }),
});
const rules = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule) })).length(1),
});
export type Rule = z.output<typeof rule>;

/** The files with alert rules: absolute paths, in the order in which the tests evaluate them. */
export const alertFiles = ['service', 'hub', 'fleet'].map((name) => path.join(folder, 'alerts', `${name}.yaml`));

/** The alert rules of all files. */
export const alerts: readonly Rule[] = alertFiles.flatMap((file) =>
  rules.parse(parse(fs.readFileSync(file, 'utf8'))).groups.flatMap((group) => group.rules),
);

const position = z.strictObject({ x: z.int(), y: z.int(), w: z.int(), h: z.int() });
const panel = z.looseObject({
  id: z.int(),
  type: z.enum(['row', 'timeseries', 'stat', 'table']),
  title: z.string(),
  description: z.string().optional(),
  gridPos: position,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana
  datasource: z.strictObject({ type: z.literal('prometheus'), uid: z.literal('${datasource}') }).optional(),
  targets: z.array(z.looseObject({ refId: z.string(), expr: z.string() })).default([]),
});
const dashboard = z.looseObject({
  uid: z.string(),
  title: z.string(),
  schemaVersion: z.literal(39),
  links: z.array(z.looseObject({ type: z.literal('link'), url: z.string() })),
  templating: z.strictObject({ list: z.array(z.looseObject({ name: z.string(), type: z.string() })) }),
  panels: z.array(panel),
});

/** The dashboard of a service. @throws if a member has another form than Grafana expects */
export const dashboardOf = (service: 'hub' | 'fleet') =>
  dashboard.parse(JSON.parse(fs.readFileSync(path.join(folder, 'dashboards', `${service}.json`), 'utf8')));

/** A row of the table of planted faults in docs/operate.md. */
export interface PlantedFault {
  readonly alert: string;
  /** The minutes from the first scrape that shows the fault until the alert fires. */
  readonly minutes: number;
}

/** The table of planted faults in docs/operate.md, by the names of the faults. */
export const plantedFaults: ReadonlyMap<string, PlantedFault> = new Map(
  [...read('docs/operate.md').matchAll(/^\| ([^|]+) \| \[`(\w+)`\]\(#\w+\) \| [^|]+ \| (\d+) min \| [^|]+ \|$/gm)].map(
    ([, fault = '', alert = '', minutes]) => [fault, { alert, minutes: Number(minutes) }],
  ),
);
