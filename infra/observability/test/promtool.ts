import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { programAt } from '@svc/testing/engine';
import { stringify } from 'yaml';
import { alertFiles, type Rule } from './files.ts';

const promtool = programAt('promtool');

/** `describe`, or a description that is skipped with the reason in its title. */
export function describeWithPromtool(title: string, tests: () => void): void {
  if (promtool) describe(title, tests);
  else describe.skip(`${title} (skipped: promtool not installed)`, tests);
}

/** Runs promtool. @throws an error with its output if it fails */
function run(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(promtool ?? 'promtool', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`promtool ${args[0]} failed:\n${stdout}${stderr}`);
}

/** The seconds between two scrapes, and between two evaluations of the rules, as in the charts. */
export const INTERVAL_SECONDS = 30;

/** The samples of a series, one per interval from the beginning, in the notation of promtool. */
export type SeriesValues = Readonly<Record<string, string>>;

export interface Expected {
  readonly minute: number;
  /** The names of exactly the alerts that fire at this time. */
  readonly firing?: readonly string[];
  /** The names of exactly the alerts that fired at any time so far. */
  readonly fired?: readonly string[];
}

const samplesOf = (names: readonly string[]) =>
  names.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 }));

/** Evaluates all rules over these series. @throws an error if other alerts fire than expected */
export function expectAlerts(series: SeriesValues, expected: readonly Expected[]): void {
  const checks = expected.flatMap(({ minute, firing, fired }) => {
    const of = (samples: string, names: readonly string[]) => ({
      ...{ expr: `group by (alertname) (${samples})`, eval_time: `${Math.round(minute * 60)}s` },
      exp_samples: samplesOf(names),
    });
    return [
      ...(firing ? [of('ALERTS{alertstate="firing"}', firing)] : []),
      ...(fired ? [of('max_over_time(ALERTS{alertstate="firing"}[1d])', fired)] : []),
    ];
  });
  testRules({ input_series: inputOf(series), promql_expr_test: checks });
}

const inputOf = (series: SeriesValues) => Object.entries(series).map(([name, values]) => ({ series: name, values }));

/** Runs a test of the rules in the format of promtool. */
function testRules(test: object): void {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'promtool-'));
  const interval = `${INTERVAL_SECONDS}s`;
  const tests = { rule_files: alertFiles, evaluation_interval: interval, tests: [{ interval, ...test }] };
  try {
    const file = path.join(folder, 'test.yaml');
    fs.writeFileSync(file, stringify(tests, { lineWidth: 0 }));
    run('test', 'rules', file);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/**
 * Checks the link of an alert that fires in minute 15, with the external labels of Prometheus.
 * @throws an error if it is another one
 */
export function expectRunbook(
  series: SeriesValues,
  {
    rule,
    labels,
    url,
  }: { readonly rule: Rule; readonly labels: Readonly<Record<string, string>>; readonly url: string },
): void {
  const expected = {
    exp_labels: { ...rule.labels, job: 'fleet' },
    exp_annotations: { ...rule.annotations, runbook_url: url },
  };
  const check = { eval_time: '15m', alertname: rule.alert, exp_alerts: [expected] };
  testRules({ external_labels: labels, input_series: inputOf(series), alert_rule_test: [check] });
}

/** Checks the syntax of all rules. @throws an error with the output of promtool */
export const checkRules = (): void => run('check', 'rules', ...alertFiles);
