// When each alert fires, over series that the tests state. test/planted has series of real services.
import { alerts } from './files.ts';
import {
  checkRules,
  describeWithPromtool,
  type Expected,
  expectAlerts,
  expectRunbook,
  type SeriesValues,
} from './promtool.ts';

/** Both services without a problem. A test replaces some of these series. */
const healthy: SeriesValues = {
  'up{job="hub", instance="a"}': '1x200',
  'up{job="hub", instance="b"}': '1x200',
  'up{job="fleet", instance="c"}': '1x200',
  'database_response_seconds{job="hub", instance="a"}': '0.001x200',
  'database_response_seconds{job="hub", instance="b"}': '0.001x200',
  'database_response_seconds{job="fleet", instance="c"}': '0.001x200',
  'fleet_hosts{job="fleet", instance="c", reachability="unreachable"}': '0x200',
  'fleet_clusters{job="fleet", instance="c", reachability="unreachable"}': '0x200',
  'catalog_sync_stale{job="fleet", instance="c"}': '0x200',
  'http_requests_total{job="hub", instance="a", status="200"}': '0+10x200',
  'http_requests_total{job="fleet", instance="c", status="200"}': '0+10x200',
};

interface Case {
  readonly alert: string;
  readonly when: string;
  readonly series: SeriesValues;
  readonly expected: readonly Expected[];
}

/** The alert fires in this minute, and not in the one before; no other alert fires within 60 minutes. */
const firesAt = (alert: string, minute: number): Expected[] => [
  { minute: minute - 1, firing: [] },
  { minute, firing: [alert] },
  { minute: 60, fired: [alert] },
];
const never: Expected[] = [{ minute: 60, fired: [] }];
const onHub = 'job="hub", instance="a"';
const onFleet = 'job="fleet", instance="c"';

const cases: readonly Case[] = [
  { alert: 'no alert', when: 'nothing is wrong', series: {}, expected: never },
  {
    ...{ alert: 'HubDown', when: 'all replicas of the hub are down from minute 10' },
    series: { 'up{job="hub", instance="a"}': '1x19 0x180', 'up{job="hub", instance="b"}': '1x19 0x180' },
    expected: firesAt('HubDown', 12),
  },
  {
    ...{ alert: 'HubDown', when: 'the hub has no targets any more' },
    series: { 'up{job="hub", instance="a"}': '1x19 stale', 'up{job="hub", instance="b"}': '1x19 stale' },
    expected: firesAt('HubDown', 12),
  },
  {
    ...{ alert: 'FleetDown', when: 'the only replica of the fleet is down from minute 10' },
    series: { 'up{job="fleet", instance="c"}': '1x19 0x180' },
    expected: firesAt('FleetDown', 12),
  },
  {
    ...{ alert: 'ReplicaDown', when: 'one of two replicas of the hub is down from minute 10' },
    series: { 'up{job="hub", instance="a"}': '1x19 0x180' },
    expected: firesAt('ReplicaDown', 15),
  },
  {
    ...{ alert: 'ServiceRestarting', when: 'a replica starts three times within 15 minutes' },
    series: { [`process_start_time_seconds{${onHub}}`]: '1x19 2x5 3x5 4x180' },
    expected: firesAt('ServiceRestarting', 16),
  },
  {
    ...{ alert: 'ServiceRestarting', when: 'a replica is replaced twice' },
    series: { [`process_start_time_seconds{${onHub}}`]: '1x19 2x5 3x180' },
    expected: never,
  },
  {
    ...{ alert: 'DatabaseUnavailable', when: 'one replica receives no response from minute 10' },
    series: { [`database_response_seconds{${onHub}}`]: '0.001x19 stale' },
    expected: firesAt('DatabaseUnavailable', 11),
  },
  {
    ...{ alert: 'DatabaseUnavailable', when: 'a single scrape finds no database' },
    series: { [`database_response_seconds{${onHub}}`]: '0.001x19 stale 0.001x180' },
    expected: never,
  },
  {
    ...{ alert: 'DatabaseSlow', when: 'a statement takes half a second from minute 10' },
    series: { [`database_response_seconds{${onFleet}}`]: '0.001x19 0.5x180' },
    expected: firesAt('DatabaseSlow', 16),
  },
  {
    ...{ alert: 'DatabaseSlow', when: 'one minute is slow' },
    series: { [`database_response_seconds{${onFleet}}`]: '0.001x19 0.5x1 0.001x180' },
    expected: never,
  },
  {
    ...{ alert: 'DatabaseDiskFull', when: 'one write fails for a full disk' },
    series: { [`database_failures_total{${onFleet}, reason="disk_full"}`]: '0x19 1x180' },
    expected: firesAt('DatabaseDiskFull', 10),
  },
  {
    ...{ alert: 'DatabaseDiskFull', when: 'writes fail for other reasons' },
    series: { [`database_failures_total{${onFleet}, reason="conflict"}`]: '0x19 1+1x180' },
    expected: never,
  },
  {
    ...{ alert: 'ServerErrors', when: 'two percent of the responses are 500 from minute 10' },
    series: { [`http_requests_total{${onHub}, status="500"}`]: '0x19 1+0.2x180' },
    expected: firesAt('ServerErrors', 16),
  },
  {
    ...{ alert: 'ServerErrors', when: 'the database is the cause' },
    series: {
      [`http_requests_total{${onHub}, status="503"}`]: '0x19 10+10x40 410x140',
      [`database_response_seconds{${onHub}}`]: '0.001x19 stale _x40 0.001x140',
    },
    expected: [{ minute: 100, fired: ['DatabaseUnavailable'] }],
  },
  {
    ...{ alert: 'IdentityProviderUnreachable', when: 'each request fails from minute 10' },
    series: {
      [`outbound_request_duration_seconds_count{${onHub}, destination="identity_provider", outcome="failed"}`]:
        '0x19 1+1x180',
      [`outbound_request_duration_seconds_count{${onHub}, destination="identity_provider", outcome="response"}`]:
        '5x200',
    },
    expected: firesAt('IdentityProviderUnreachable', 15),
  },
  {
    ...{ alert: 'IdentityProviderUnreachable', when: 'some requests fail' },
    series: {
      [`outbound_request_duration_seconds_count{${onHub}, destination="identity_provider", outcome="failed"}`]:
        '0+1x200',
      [`outbound_request_duration_seconds_count{${onHub}, destination="identity_provider", outcome="response"}`]:
        '0+1x200',
    },
    expected: never,
  },
  {
    ...{ alert: 'LogLinesDropped', when: 'lines are dropped in minute 10' },
    series: { [`log_lines_dropped_total{${onFleet}}`]: '0x19 7x180' },
    expected: firesAt('LogLinesDropped', 10),
  },
  {
    ...{ alert: 'AuditDeliveryBehind', when: 'an entry is not delivered from minute 10' },
    series: { [`delivery_lag_seconds{${onHub}, delivery="audit"}`]: '0x19 0+30x180' },
    expected: firesAt('AuditDeliveryBehind', 21),
  },
  {
    ...{ alert: 'AuditDeliveryBehind', when: 'the delivery catches up within ten minutes' },
    series: { [`delivery_lag_seconds{${onFleet}, delivery="audit"}`]: '0x19 0+30x19 0x160' },
    expected: never,
  },
  {
    ...{ alert: 'AuditWritesFail', when: 'entries fail from minute 10' },
    series: { [`audit_entries_total{${onFleet}, outcome="failed"}`]: '0x19 1+1x180' },
    expected: firesAt('AuditWritesFail', 12),
  },
  {
    ...{ alert: 'AuditWritesFail', when: 'the database is unavailable for a time' },
    series: {
      [`audit_entries_total{${onFleet}, outcome="failed"}`]: '0x19 1+1x20 21x180',
      [`database_response_seconds{${onFleet}}`]: '0.001x19 stale _x20 0.001x140',
    },
    expected: [{ minute: 60, fired: ['DatabaseUnavailable'] }],
  },
  {
    ...{ alert: 'EngineUnreachable', when: 'a host is unreachable from minute 10' },
    series: { [`fleet_hosts{${onFleet}, reachability="unreachable"}`]: '0x19 1x180' },
    expected: firesAt('EngineUnreachable', 15),
  },
  {
    ...{ alert: 'EngineUnreachable', when: 'a cluster is unreachable from minute 10' },
    series: { [`fleet_clusters{${onFleet}, reachability="unreachable"}`]: '0x19 1x180' },
    expected: firesAt('EngineUnreachable', 15),
  },
  {
    ...{ alert: 'DeploymentsNotRunning', when: 'a deployment is in a crash loop from minute 10' },
    series: {
      [`fleet_deployments{${onFleet}, phase="degraded", reason="CrashLoop"}`]: '_x19 1x180',
    },
    expected: firesAt('DeploymentsNotRunning', 20),
  },
  {
    ...{ alert: 'DeploymentsNotRunning', when: 'a deployment fails every second minute from minute 10' },
    series: {
      [`fleet_deployments{${onFleet}, phase="retrying", reason="ImagePullFailed"}`]: `_x19 ${'1x1 stale _ '.repeat(45)}`,
    },
    expected: firesAt('DeploymentsNotRunning', 20),
  },
  {
    ...{ alert: 'DeploymentsNotRunning', when: 'a deployment starts for a long time' },
    series: { [`fleet_deployments{${onFleet}, phase="starting", reason="none"}`]: '1x200' },
    expected: never,
  },
  {
    ...{ alert: 'RolloutsHeld', when: 'a rollout is held from minute 10' },
    series: { [`fleet_rollouts{${onFleet}, state="held"}`]: '0x19 1x180' },
    expected: firesAt('RolloutsHeld', 20),
  },
  {
    ...{ alert: 'RolloutsHeld', when: 'a rollout takes long' },
    series: { [`fleet_rollouts{${onFleet}, state="progressing"}`]: '1x200' },
    expected: never,
  },
  {
    ...{ alert: 'ReconcilerBehind', when: 'a deployment waits from minute 10' },
    series: { [`reconciler_oldest_due_seconds{${onFleet}}`]: '0x19 61+30x180' },
    expected: firesAt('ReconcilerBehind', 15),
  },
  {
    ...{ alert: 'CatalogMirrorStale', when: 'syncs fail from minute 10' },
    series: { [`catalog_sync_stale{${onFleet}}`]: '0x19 1x180' },
    expected: firesAt('CatalogMirrorStale', 25),
  },
  {
    ...{ alert: 'CatalogMirrorStale', when: 'the hub is down' },
    series: {
      'up{job="hub", instance="a"}': '1x19 0x180',
      'up{job="hub", instance="b"}': '1x19 0x180',
      [`catalog_sync_stale{${onFleet}}`]: '0x21 1x180',
    },
    expected: firesAt('HubDown', 12),
  },
  {
    ...{ alert: 'TemplateNotTrusted', when: 'a template that runs is no longer trusted, from minute 10' },
    series: { [`catalog_untrusted_templates{${onFleet}, reason="key_revoked", used="yes"}`]: '0x19 2x180' },
    expected: firesAt('TemplateNotTrusted', 25),
  },
  {
    ...{ alert: 'TemplateNotTrusted', when: 'no deployment runs the template' },
    series: { [`catalog_untrusted_templates{${onFleet}, reason="unsigned", used="no"}`]: '3x200' },
    expected: never,
  },
  {
    ...{ alert: 'TemplateEquivocation', when: 'two contents have one serial, from minute 10' },
    series: { [`catalog_untrusted_templates{${onFleet}, reason="equivocation", used="no"}`]: '0x19 1x180' },
    expected: firesAt('TemplateEquivocation', 10),
  },
  {
    ...{ alert: 'KeyringExpires', when: 'a keyring expires within 14 days' },
    series: { [`trust_keyring_expiry_timestamp_seconds{${onFleet}, publisher="acme"}`]: '1000000x200' },
    expected: firesAt('KeyringExpires', 15),
  },
  {
    ...{ alert: 'KeyringExpires', when: 'a keyring expires later' },
    series: { [`trust_keyring_expiry_timestamp_seconds{${onFleet}, publisher="acme"}`]: '9000000x200' },
    expected: never,
  },
  {
    ...{ alert: 'CriticalAdvisory', when: 'a deployment runs what a critical advisory is about, from minute 10' },
    series: { [`deployments_with_advisories{${onFleet}, severity="critical"}`]: '0x19 1x180' },
    expected: firesAt('CriticalAdvisory', 10),
  },
  {
    ...{ alert: 'CriticalAdvisory', when: 'an advisory is a warning' },
    series: {
      [`deployments_with_advisories{${onFleet}, severity="critical"}`]: '0x200',
      [`deployments_with_advisories{${onFleet}, severity="warning"}`]: '3x200',
    },
    expected: never,
  },
];

describeWithPromtool('promtool', () => {
  test('accepts the rules', checkRules);

  test.each(cases)('evaluates $alert if $when', ({ series, expected }) => {
    expectAlerts({ ...healthy, ...series }, expected);
  });

  test.each(['hub', 'fleet'])('fires no alert of the other service where only the %s is deployed', (service) => {
    const own = Object.entries(healthy).filter(([name]) => name.includes(`job="${service}"`));
    expectAlerts(Object.fromEntries(own), never);
  });

  test.each([
    [
      'the external label svc_runbook',
      { svc_runbook: 'https://wiki.example.test/operate' },
      'https://wiki.example.test/operate',
    ],
    ['no external label', {}, 'docs/operate.md'],
  ])('links to the runbook with %s', (_, labels, page) => {
    const rule = alerts.find(({ alert }) => alert === 'FleetDown');
    if (rule === undefined) throw new Error('there is no FleetDown');
    const down = { 'up{job="fleet", instance="c"}': '0x200' };
    expectRunbook(down, { rule, labels, url: `${page}#fleetdown` });
  });
});

test('each alert has a case in which it fires', () => {
  const fired = cases.flatMap(({ expected }) => expected.flatMap(({ fired: names = [] }) => names));
  expect(new Set(fired)).toEqual(new Set(alerts.map(({ alert }) => alert)));
});
