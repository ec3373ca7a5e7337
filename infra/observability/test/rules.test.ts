// The rules, the dashboards and docs/operate.md fit each other and the metrics of the services.
import { documentedMetrics } from '@svc/testing';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { alerts, dashboardOf, plantedFaults, read } from './files.ts';
import { readExpression } from './promql.ts';

/** Metrics that Prometheus itself adds, and the labels that it adds to all metrics. */
const OF_PROMETHEUS = { up: [], ALERTS: ['alertname', 'alertstate', 'severity'] };
const TARGET_LABELS = ['job', 'instance', 'namespace'];

/** The labels of each series of a service, by its name. */
function seriesOf(service: 'hub' | 'fleet'): Map<string, readonly string[]> {
  const library = new Registry();
  collectDefaultMetrics({ register: library });
  const series = new Map<string, readonly string[]>(Object.entries(OF_PROMETHEUS));
  for (const { name } of library.getMetricsAsArray()) series.set(name, []);
  for (const [name, { type, labels }] of Object.entries(documentedMetrics(service))) {
    if (type !== 'histogram') series.set(name, labels);
    else for (const suffix of ['_sum', '_count', '_bucket']) series.set(name + suffix, [...labels, 'le']);
  }
  return series;
}

const known = { hub: seriesOf('hub'), fleet: seriesOf('fleet') };
const both = new Map([...known.hub, ...known.fleet]);

/** What an expression uses and the services do not have. */
function unknownIn(expression: string, series: ReadonlyMap<string, readonly string[]>): string[] {
  const { selected, grouping } = readExpression(expression.replaceAll('$__rate_interval', '5m'));
  const unknown = selected.flatMap(({ metric, labels }) => {
    const has = series.get(metric);
    if (!has) return [metric];
    return labels.filter((label) => ![...has, ...TARGET_LABELS].includes(label)).map((label) => `${metric}{${label}}`);
  });
  const labels = [...selected.flatMap(({ metric }) => series.get(metric) ?? []), ...TARGET_LABELS];
  return [...unknown, ...grouping.filter((label) => !labels.includes(label))];
}

test('an expression with an unknown metric or label is recognized', () => {
  expect(unknownIn('sum by (job) (rate(http_requests_total{status="500"}[5m]))', both)).toEqual([]);
  expect(unknownIn('sum by (colour) (http_requests{job="hub"}) / up{phase="x"}', both)).toEqual([
    'http_requests',
    'up{phase}',
    'colour',
  ]);
  expect(() => readExpression('sum(up')).toThrow('syntax error');
});

test.each(alerts)('$alert uses metrics and labels of the services', ({ expr }) => {
  expect(unknownIn(expr, both)).toEqual([]);
  expect(readExpression(expr).selected).not.toEqual([]);
});

const operate = read('docs/operate.md');
const sections = new Map(
  operate
    .split(/^### /m)
    .slice(1)
    .map((text) => [text.split('\n', 1)[0] ?? '', text.split(/^## /m, 1)[0] ?? '']),
);

test('each alert has a section of the runbook and a row of its table, and each section an alert', () => {
  const names = alerts.map(({ alert }) => alert);
  expect(new Set(names).size).toBe(names.length);
  expect([...sections.keys()].sort()).toEqual([...names].sort());
  const table = [...operate.matchAll(/^\| \[`(\w+)`\]\(#(\w+)\) \| (critical|warning) \|/gm)];
  expect(table.map(([, name, anchor, severity]) => ({ name, anchor, severity })).sort(byName)).toEqual(
    alerts.map(({ alert, labels }) => ({ name: alert, anchor: alert.toLowerCase(), ...labels })).sort(byName),
  );
});
const byName = (one: { name?: string | undefined }, other: { name?: string | undefined }) =>
  (one.name ?? '').localeCompare(other.name ?? '');

test.each(alerts)('$alert links to its section, which has all parts', ({ alert, annotations }) => {
  const runbook = '{{ with $externalLabels.svc_runbook }}{{ . }}{{ else }}docs/operate.md{{ end }}';
  expect(annotations.runbook_url).toBe(`${runbook}#${alert.toLowerCase()}`);
  for (const part of ['**Confirm.**', '**Meaning.**', '**What to do.**', '**Escalate**']) {
    expect(sections.get(alert)).toContain(part);
  }
});

test('the planted faults refer to alerts', () => {
  const names = alerts.map(({ alert }) => alert);
  expect([...plantedFaults.values()].filter(({ alert }) => !names.includes(alert))).toEqual([]);
  expect(plantedFaults.size).toBe((operate.match(/ min \| [^|]+ \|$/gm) ?? []).length);
});

describe.each(['hub', 'fleet'] as const)('the dashboard of the %s', (service) => {
  const { panels, templating, links, uid } = dashboardOf(service);

  test('uses metrics and labels of the service', () => {
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(10);
    for (const expr of expressions)
      expect({ expr, unknown: unknownIn(expr, known[service]) }).toEqual({ expr, unknown: [] });
  });

  test('has symptoms first, then causes, and panels that do not overlap', () => {
    expect(uid).toBe(`svc-${service}`);
    const rows = panels.filter(({ type }) => type === 'row').map(({ title }) => title);
    expect(rows[0]).toBe('Symptoms');
    expect(rows.length).toBeLessThanOrEqual(4);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    for (const { type, datasource, targets } of panels) {
      if (type !== 'row')
        expect({ datasource, count: targets.length > 0 }).toMatchObject({ datasource: {}, count: true });
    }
  });

  test('has variables for the data source, the job and the runbook, and links to existing sections', () => {
    expect(templating.list.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'datasource datasource',
      'job query',
      'runbook textbox',
    ]);
    const text = JSON.stringify({ panels, links });
    const anchors = [...text.matchAll(/\$\{runbook\}#([\w-]+)/g)].map(([, anchor]) => anchor);
    expect(anchors.length).toBeGreaterThan(3);
    const existing = [...operate.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', '-'),
    );
    expect(anchors.filter((anchor) => !existing.includes(anchor ?? ''))).toEqual([]);
  });
});
