import fs from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { renderTemplates } from './template.ts';

export type Chart = 'hub' | 'fleet';
export type Values = Readonly<Record<string, unknown>>;

export const charts = path.resolve(import.meta.dirname, '../../../helm');
const read = (...names: string[]) => fs.readFileSync(path.join(charts, ...names), 'utf8');

const metadata = z.looseObject({ name: z.string(), labels: z.record(z.string(), z.string()) });
const object = z.looseObject({ apiVersion: z.string(), kind: z.string(), metadata });
export type RenderedObject = z.output<typeof object>;

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Adds values to the defaults, member by member, as Helm does. */
function merge(defaults: unknown, values: unknown): unknown {
  if (!isObject(defaults) || !isObject(values)) return values;
  const merged = Object.entries(values).map(([name, value]) => [
    name,
    name in defaults ? merge(defaults[name], value) : value,
  ]);
  return { ...defaults, ...Object.fromEntries(merged) };
}

/** Renders a chart as `helm template svc` does. @throws an error if the schema rejects the values */
export function renderChart(chart: Chart, given: Values): RenderedObject[] {
  const values = merge(parse(read(chart, 'values.yaml')), given);
  const ajv = new Ajv({ allErrors: true, strict: false });
  if (!ajv.validate(JSON.parse(read(chart, 'values.schema.json')), values)) throw new Error(ajv.errorsText());
  const { name, appVersion } = parse(read(chart, 'Chart.yaml'));
  const library = fs.readdirSync(path.join(charts, 'service/templates')).map((file) => read('service/templates', file));
  const text = renderTemplates(library, read(chart, 'templates/objects.yaml'), {
    Values: values,
    Chart: { Name: name, AppVersion: appVersion },
    Files: { Get: (file: string) => read(chart, file) },
    Release: { Name: 'svc', Namespace: 'default', Service: 'Helm' },
  });
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw new Error(`${document.errors.join('\n')}\n${text}`);
    return object.parse(document.toJS());
  });
}
