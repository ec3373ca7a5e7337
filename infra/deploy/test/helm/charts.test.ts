import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { secretNamesOf } from '@svc/http';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { parse, parseAllDocuments } from 'yaml';
import * as fleet from '../../../../apps/fleet/src/config.ts';
import * as hub from '../../../../apps/hub/src/config.ts';
import { type Chart, charts, type RenderedObject, renderChart, type Values } from './chart.ts';

const services = { hub, fleet };
const models = {
  ...{ Deployment, HorizontalPodAutoscaler, Ingress, Job, NetworkPolicy, PodDisruptionBudget },
  ...{ PrometheusRule, Service, ServiceAccount, ServiceMonitor },
};

const required: Record<Chart, Values> = {
  hub: {
    image: { repository: 'registry.example.test/svc-hub' },
    settings: { OIDC_ISSUER: 'https://id.example.test', OIDC_AUDIENCE: 'https://hub.example.test' },
    secret: { name: 'hub' },
    migration: { secretName: 'hub-owner' },
  },
  fleet: {
    image: { repository: 'registry.example.test/svc-fleet' },
    secret: { name: 'fleet' },
    migration: { secretName: 'fleet-owner' },
  },
};
const everything = (chart: Chart): Values => ({
  ...required[chart],
  image: { repository: `registry.example.test/svc-${chart}`, digest: `sha256:${'a'.repeat(64)}` },
  imagePullSecrets: [{ name: 'registry' }],
  settings: {
    ...{
      OIDC_ISSUER: 'https://id.example.test',
      OIDC_AUDIENCE: 'https://api.example.test',
      AUDIT_RETENTION_DAYS: '90',
    },
    TRUST_PROXY: '10.0.0.0/8',
  },
  secret: {
    name: chart,
    keys: secretNamesOf(services[chart].schema).filter((name) => name !== 'MIGRATION_DATABASE_URL'),
  },
  autoscaling: { enabled: true },
  serviceAccount: { annotations: { 'example.test/role': 'a' } },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  networkPolicy: { from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }] },
  ingress: {
    ...{ enabled: true, className: 'nginx', host: `${chart}.example.test`, tlsSecretName: `${chart}-tls` },
    annotations: { 'example.test/issuer': 'a' },
  },
  monitoring: { enabled: true, labels: { release: 'prometheus' } },
});

const find = (objects: RenderedObject[], kind: string) => {
  const found = objects.find((object) => object.kind === kind);
  if (!found) throw new Error(`there is no ${kind}`);
  return found;
};
const kindsOf = (objects: RenderedObject[]) => objects.map(({ kind }) => kind);

/** Throws if an object does not match the schema of Kubernetes for its kind. */
function validate(object: RenderedObject): void {
  const Model = Object.entries(models).find(([kind]) => kind === object.kind)?.[1];
  if (!Model) throw new Error(`there is no schema for ${object.kind}`);
  Reflect.construct(Model, [object]).validate();
}

const readDoc = (page: string) => fs.readFileSync(path.resolve(charts, '../../docs', page), 'utf8');

/** The variables of a service in the tables of docs/configuration.md. */
function documentedSettings(chart: Chart): { name: string; isSecret: boolean }[] {
  const page = readDoc('configuration.md');
  return ['common', chart].flatMap((table) => {
    const [, rows = ''] = new RegExp(`<!-- begin ${table} settings -->([^]*?)<!-- end`).exec(page) ?? [];
    return [...rows.matchAll(/^\| `(\w+)` \|.*\| (`\w+_FILE` )?\|$/gm)].map(([, name = '', file]) => ({
      name,
      isSecret: file !== undefined,
    }));
  });
}

const documentedTraceVariables = (): string[] => [
  ...new Set(readDoc('traces.md').match(/\bOTEL_[A-Z0-9_]+(?=`)/g) ?? []),
];

test('the settings are found in the documentation', () => {
  expect(documentedSettings('hub')).toEqual(
    expect.arrayContaining([
      { name: 'DATABASE_URL', isSecret: true },
      { name: 'NODE_EXTRA_CA_CERTS', isSecret: false },
      { name: 'OIDC_ISSUER', isSecret: false },
    ]),
  );
  const names = (chart: Chart) => new Set(documentedSettings(chart).map(({ name }) => name));
  for (const chart of ['hub', 'fleet'] as const)
    expect(names(chart)).toEqual(new Set(Object.keys(services[chart].schema.shape)));
});

test('the validation rejects wrong members', () => {
  const deployment = find(renderChart('hub', required.hub), 'Deployment');
  const wrong = { ...deployment, spec: { ...Object(deployment.spec), replicas: 'two' } };
  expect(() => validate(wrong)).toThrow('replicas');
});

describe.each(['hub', 'fleet'] as const)('the chart of the %s', (chart) => {
  test('renders valid objects with only the required values, and with all', () => {
    const few = renderChart(chart, required[chart]);
    const all = renderChart(chart, everything(chart));
    const usual = ['ServiceAccount', 'Deployment', 'Service', 'Job', 'PodDisruptionBudget'];
    expect(kindsOf(few)).toEqual([...usual, 'NetworkPolicy']);
    const optional = ['HorizontalPodAutoscaler', 'NetworkPolicy', 'Ingress', 'ServiceMonitor', 'PrometheusRule'];
    expect(kindsOf(all)).toEqual([...usual, ...optional]);
    for (const object of [...few, ...all]) validate(object);
  });

  test('has exactly the settings of the service in its schema', () => {
    const { properties } = JSON.parse(fs.readFileSync(path.join(charts, chart, 'values.schema.json'), 'utf8'));
    const secrets = secretNamesOf(services[chart].schema);
    const byChart = ['PORT', 'MIGRATE_ON_START']; // from the values `port` and `migration`
    expect(new Set(Object.keys(properties.settings.properties))).toEqual(
      new Set(Object.keys(services[chart].schema.shape).filter((name) => ![...secrets, ...byChart].includes(name))),
    );
    expect(new Set(properties.secret.properties.keys.items.enum)).toEqual(
      new Set(secrets.filter((name) => name !== 'MIGRATION_DATABASE_URL')),
    );
  });

  test('renders valid objects with every documented setting, further variables and volumes', () => {
    const documented = documentedSettings(chart);
    const traces = documentedTraceVariables();
    const plain = documented.filter(
      ({ isSecret, name }) => !isSecret && name !== 'PORT' && name !== 'MIGRATE_ON_START',
    );
    const secrets = documented.filter(({ isSecret }) => isSecret).map(({ name }) => name);
    const extraEnv = [{ name: 'EXTRA', valueFrom: { secretKeyRef: { name: 'extra', key: 'a' } } }];
    const extraVolumes = [{ name: 'authorities', configMap: { name: 'authorities' } }];
    const extraVolumeMounts = [{ name: 'authorities', mountPath: '/etc/authorities', readOnly: true }];
    const envFrom = [{ configMapRef: { name: 'more' } }];
    const objects = renderChart(chart, {
      ...required[chart],
      settings: Object.fromEntries([...plain.map(({ name }) => name), ...traces].map((name) => [name, `of ${name}`])),
      secret: { name: chart, keys: secrets.filter((name) => name !== 'MIGRATION_DATABASE_URL') },
      ...{ extraEnv, envFrom, extraVolumes, extraVolumeMounts },
    });
    for (const object of objects) validate(object);
    const pods = ['Deployment', 'Job'].map((kind) => Object(find(objects, kind).spec).template.spec);
    const variables = pods.flatMap(({ containers: [{ env }] }) => env.map(({ name }: { name: string }) => name));
    expect(traces).toContain('OTEL_EXPORTER_OTLP_ENDPOINT');
    expect(variables).toEqual(
      expect.arrayContaining([
        ...documented.map(({ name, isSecret }) => (isSecret ? `${name}_FILE` : name)),
        ...traces,
        'EXTRA',
      ]),
    );
    for (const pod of pods) {
      expect(pod).toMatchObject({
        containers: [
          {
            envFrom,
            env: expect.arrayContaining([
              ...extraEnv,
              { name: 'NODE_EXTRA_CA_CERTS', value: 'of NODE_EXTRA_CA_CERTS' },
            ]),
            volumeMounts: expect.arrayContaining(extraVolumeMounts),
          },
        ],
        volumes: expect.arrayContaining(extraVolumes),
      });
    }
  });

  test('the pods have no privileges, and read their secrets from files', () => {
    const objects = renderChart(chart, everything(chart));
    for (const kind of ['Deployment', 'Job']) {
      expect(find(objects, kind)).toMatchObject({
        spec: {
          template: {
            spec: {
              automountServiceAccountToken: false,
              securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
              containers: [
                {
                  image: `registry.example.test/svc-${chart}@sha256:${'a'.repeat(64)}`,
                  securityContext: {
                    ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
                    capabilities: { drop: ['ALL'] },
                  },
                  env: expect.arrayContaining([{ name: 'DATABASE_URL_FILE', value: '/run/secrets/svc/DATABASE_URL' }]),
                },
              ],
            },
          },
        },
      });
    }
    expect(JSON.stringify(find(objects, 'Deployment'))).not.toContain('MIGRATION_DATABASE_URL');
  });

  test('the alerts are those of infra/observability, for the pods of the release', () => {
    const monitoring = { enabled: true, runbookUrl: 'https://wiki.example.test/operate' };
    const rendered = find(renderChart(chart, { ...required[chart], monitoring }), 'PrometheusRule');
    const folder = path.resolve(charts, '../observability/alerts');
    const files = ['service', chart].map((name) => fs.readFileSync(path.join(folder, `${name}.yaml`), 'utf8'));
    const groups = files.flatMap((text) => parse(text).groups);
    const expected = JSON.stringify(groups)
      .replaceAll(
        /job=(?:~\\"hub\|fleet\\"|\\"(?:hub|fleet)\\")/g,
        String.raw`job=\"svc-${chart}\", namespace=\"default\"`,
      )
      .replaceAll('docs/operate.md', monitoring.runbookUrl);
    expect(Object(rendered.spec).groups).toEqual(JSON.parse(expected));
    const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }: { alert: string }) => alert));
    expect(alerts).toEqual(expect.arrayContaining(['DatabaseUnavailable', chart === 'hub' ? 'HubDown' : 'FleetDown']));
  });

  test('the selectors of the service match the pods, but not those of the migration', () => {
    const objects = renderChart(chart, required[chart]);
    const selector = Object(find(objects, 'Service').spec).selector;
    const labelsOf = (kind: string) => Object(find(objects, kind).spec).template.metadata.labels;
    expect(labelsOf('Deployment')).toMatchObject(selector);
    expect(labelsOf('Job')).not.toMatchObject(selector);
  });

  test.each([
    ['no image', { image: { repository: '' } }, 'image/repository'],
    ['no secret', { secret: { name: '' } }, 'secret/name'],
    ['a secret without a required key', { secret: { keys: ['METRICS_TOKEN'] } }, 'secret/keys'],
    ['no secret of the migration', { migration: { secretName: '' } }, 'migration/secretName'],
    ['a misspelled member', { replica: 3 }, 'additional properties'],
    [
      'a variable of traces in lower case',
      { settings: { otel_sdk_disabled: 'true' } },
      'settings must NOT have additional',
    ],
    ['a further variable without a name', { extraEnv: [{ value: 'a' }] }, 'extraEnv/0'],
    ['a secret in the settings', { settings: { DATABASE_URL: 'postgresql://a' } }, 'settings must NOT have additional'],
    ['an ingress without a host', { ingress: { enabled: true, tlsSecretName: 'a' } }, 'ingress/host'],
    ['an ingress without TLS', { ingress: { enabled: true, host: 'a' } }, 'ingress/tlsSecretName'],
    ['no replicas', { replicas: 0 }, 'replicas must be >= 1'],
  ])('rejects %s', (_, wrong, error) => {
    const merged = Object.fromEntries(
      [...new Set([...Object.keys(required[chart]), ...Object.keys(wrong)])].map((name) => {
        const [one, other] = [Reflect.get(required[chart], name), Reflect.get(wrong, name)];
        const isMember = typeof other === 'object' && !Array.isArray(other);
        return [name, isMember ? { ...Object(one), ...other } : (other ?? one)];
      }),
    );
    expect(() => renderChart(chart, merged)).toThrow(error);
  });
});

const hasHelm = (process.env.PATH ?? '').split(':').some((folder) => fs.existsSync(path.join(folder, 'helm')));

(hasHelm ? describe : describe.skip)(
  `Helm renders the same objects${hasHelm ? '' : ' (skipped: helm not installed)'}`,
  () => {
    test.each(['hub', 'fleet'] as const)('of the %s', async (chart) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'helm-'));
      try {
        for (const values of [required[chart], everything(chart)]) {
          const file = path.join(folder, 'values.json');
          await writeFile(file, JSON.stringify(values));
          const args = ['template', 'svc', path.join(charts, chart), '--values', file];
          const text = execFileSync('helm', args, { encoding: 'utf8' });
          const rendered = parseAllDocuments(text).map((document) => document.toJS());
          const byKind = (objects: { kind: string }[]) => objects.toSorted((a, b) => (a.kind < b.kind ? -1 : 1));
          expect(byKind(rendered)).toEqual(byKind(renderChart(chart, values)));
        }
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  },
);

test('the charts use the library that they declare', () => {
  for (const chart of ['hub', 'fleet']) {
    const { dependencies } = parse(fs.readFileSync(path.join(charts, chart, 'Chart.yaml'), 'utf8'));
    const library = parse(fs.readFileSync(path.join(charts, chart, 'charts/service/Chart.yaml'), 'utf8'));
    expect(dependencies).toEqual([{ name: library.name, version: library.version, repository: 'file://../service' }]);
  }
});
