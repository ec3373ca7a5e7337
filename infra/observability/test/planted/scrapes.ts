import { scaled } from '@svc/testing';
import { INTERVAL_SECONDS, type SeriesValues } from '../promtool.ts';

/** A service that is scraped: the name of its job, and its URL. */
export interface Target {
  readonly job: 'hub' | 'fleet';
  readonly url: string;
}

/** The samples of one scrape of all targets, by series. */
export type Scrape = ReadonlyMap<string, number>;

/** Series that only increase while their process runs. */
const accumulating = new Set<string>();

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const TIMEOUT_MS = 10_000;

/** Scrapes `/metrics` of all targets as Prometheus does. A target that does not respond has only the sample `up`. */
export async function scrape(targets: readonly Target[]): Promise<Scrape> {
  const all = await Promise.all(targets.map(scrapeOne));
  return new Map(all.flat());
}

async function scrapeOne({ job, url }: Target): Promise<[string, number][]> {
  const target = `job="${job}",instance="${new URL(url).host}"`;
  const text = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(scaled(TIMEOUT_MS)) }).then(
    (response) => (response.ok ? response.text() : undefined),
    () => undefined, // it does not listen
  );
  if (text === undefined) return [[`up{${target}}`, 0]];
  const types = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]));
  const samples = text.split('\n').flatMap((line): [string, number][] => {
    const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? [];
    if (name === '') return [];
    const series = `${name}{${labels === '' ? '' : `${labels},`}${target}}`;
    const type = types.get(name) ?? types.get(name.replace(/_(?:bucket|sum|count)$/, ''));
    if (type === 'counter' || type === 'histogram') accumulating.add(series);
    return [[series, Number(value)]];
  });
  return [[`up{${target}}`, 1], ...samples];
}

/** The gauge that a short load of the machine raises. */
const RESPONSE_TIME = 'database_response_seconds{';

/**
 * The same scrapes, with the shortest response time of each database in all of them. A scrape stands for half of the time before or
 * during a fault here. A single slow response would thus look like a slow database.
 */
export function withShortestResponses(scrapes: readonly Scrape[]): readonly Scrape[] {
  const shortest = new Map<string, number>();
  for (const [series, value] of scrapes.flatMap((one) => [...one])) {
    if (series.startsWith(RESPONSE_TIME)) shortest.set(series, Math.min(value, shortest.get(series) ?? value));
  }
  return scrapes.map((one) => new Map([...one].map(([series, value]) => [series, shortest.get(series) ?? value])));
}

interface Timeline {
  /** Scrapes before the fault. The last one is repeated. */
  readonly before: readonly Scrape[];
  /** Scrapes during the fault. All of them are repeated; what they counted is counted again each time. */
  readonly during: readonly Scrape[];
  /** Minutes in which `before` and `during` are repeated. */
  readonly minutes: { readonly before: number; readonly during: number };
  /** The metrics to include. */
  readonly metrics: ReadonlySet<string>;
}

/** The series of a time before a fault and of a longer time with it, with one sample per interval. */
export function seriesOf({ before, during, minutes, metrics }: Timeline): SeriesValues {
  const steps = (count: number) => Array.from({ length: (count * 60) / INTERVAL_SECONDS }, (_, index) => index);
  const names = new Set([...before, ...during].flatMap((one) => [...one.keys()]));
  const [start, end] = [before.at(-1), during.at(-1)];
  const valuesOf = (series: string) => {
    const growth = accumulating.has(series) ? Math.max(0, (end?.get(series) ?? 0) - (start?.get(series) ?? 0)) : 0;
    const samples = [
      ...steps(minutes.before).map((step) => before[Math.min(step, before.length - 1)]?.get(series)),
      ...steps(minutes.during).map((step) => {
        const value = during[step % during.length]?.get(series);
        return value === undefined ? undefined : value + growth * Math.floor(step / during.length);
      }),
    ];
    // A series that a scrape does not contain any more ends, as in Prometheus.
    const missing = (index: number) => (samples[index - 1] === undefined ? '_' : 'stale');
    return samples.map((value, index) => value ?? missing(index)).join(' ');
  };
  return Object.fromEntries(
    [...names].filter((series) => metrics.has(series.replace(/\{.*/, ''))).map((series) => [series, valuesOf(series)]),
  );
}

/** The sum of the samples of a metric whose labels contain `labels`; undefined without samples. */
export function sampleOf(scraped: Scrape, metric: string, labels = ''): number | undefined {
  const values = [...scraped].filter(([series]) => series.startsWith(`${metric}{`) && series.includes(labels));
  return values.length === 0 ? undefined : values.reduce((sum, [, value]) => sum + value, 0);
}
