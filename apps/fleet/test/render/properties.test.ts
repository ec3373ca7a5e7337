import { byDepth } from '@svc/testing';
import { assertProperty } from '@svc/testing/properties';
import fc from 'fast-check';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import { bytes, milli } from '../../src/placement/quantities.ts';
import { renderDocker } from '../../src/render/docker.ts';
import { type KubernetesObject, renderKubernetes } from '../../src/render/kubernetes.ts';
import type { Rendering } from '../../src/render/rendering.ts';
import { withoutValues } from '../../src/render/secrets.ts';
import { anyRendering, anySpec } from './arbitrary.ts';
import { dockerManifest } from './docker/schemas.ts';
import { assertValid } from './kubernetes/schemas.ts';
import { aCluster, aHost, aNetwork, aRendering, CANARY, shown } from './renderings.ts';

const RUNS = byDepth({ short: 40, full: 300, long: 5000 });
const cluster = aCluster({ default_storage_class: 'standard', network_policies: true });
const engines = fc.constantFrom('docker', 'podman');

const onCluster = (rendering: Rendering): readonly KubernetesObject[] => renderKubernetes(rendering, cluster).objects;
const workloadOf = (rendering: Rendering): IDeployment | IJob => {
  const found = onCluster(rendering).find(({ kind }) => kind === 'Deployment' || kind === 'Job');
  return found as IDeployment | IJob;
};
const podOf = (rendering: Rendering) => {
  const template = workloadOf(rendering).spec?.template;
  const container = template?.spec?.containers[0];
  if (!template?.spec || !container) throw new Error('no pod');
  return { template, pod: template.spec, container };
};

/** Checks a property of every deployment of a valid workload. */
const always = (what: (rendering: Rendering<'values'>) => void): void => {
  assertProperty(fc.property(anyRendering, what), RUNS);
};

/** The text of a value, and the decoded text of everything in it that is base64, at any depth. */
function readable(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const encoded = text.match(/[A-Za-z0-9+/_-]{12,}={0,2}/g) ?? [];
  return [
    text,
    ...encoded
      .map((part) => Buffer.from(part, 'base64').toString())
      .filter(isText)
      .map(readable),
  ].join('\n');
}
const isText = (text: string): boolean => /^[\x20-\x7e]+$/.test(text);

test('every rendering for a cluster matches the schemas of Kubernetes', () => {
  always((rendering) => onCluster(rendering).forEach(assertValid));
});

test('every rendering for a host matches the API of its engine', () => {
  assertProperty(
    fc.property(anyRendering, engines, fc.boolean(), (rendering, engine, isIsolated) => {
      const networks = isIsolated ? [aNetwork(rendering)] : [];
      dockerManifest.parse(renderDocker(rendering, { ...aHost(rendering, engine), networks }));
    }),
    RUNS,
  );
});

test('every rendering of the same deployment is the same text', () => {
  always((rendering) => {
    const again = { ...rendering, spec: structuredClone(rendering.spec), volumes: [...rendering.volumes].reverse() };
    expect(JSON.stringify(onCluster(again))).toBe(JSON.stringify(onCluster(rendering)));
    expect(JSON.stringify(renderDocker(again, aHost(again)))).toBe(
      JSON.stringify(renderDocker(rendering, aHost(rendering))),
    );
  });
});

test('every rendering for people hides the values of secrets, and that for engines contains them', () => {
  always((rendering) => {
    const values = readable([onCluster(rendering), renderDocker(rendering, aHost(rendering))]);
    const { secret_refs, registry_credentials } = rendering.spec;
    expect(values.includes(CANARY)).toBe(secret_refs.length > 0 || registry_credentials !== null);
    for (const seen of [shown(rendering), withoutValues(rendering)]) {
      expect(readable([onCluster(seen), renderDocker(seen, aHost(seen))])).not.toContain(CANARY);
    }
  });
});

test('every rendering for a cluster has values of secrets in Secrets only', () => {
  always((rendering) => {
    const others = onCluster(rendering).filter(({ kind }) => kind !== 'Secret');
    expect(readable(others)).not.toContain(CANARY);
  });
});

test('every rendered name is a DNS label of a Service, with room for the suffixes of pods', () => {
  always((rendering) => {
    for (const { kind, metadata } of onCluster(rendering)) {
      expect(metadata?.name).toMatch(/^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
      const added = { Deployment: '-1234567890-12345', Job: '-12345' }[kind as string] ?? '';
      expect(`${metadata?.name}${added}`.length).toBeLessThanOrEqual(63);
    }
  });
});

test('every rendering has distinct names for the objects of a kind', () => {
  always((rendering) => {
    const names = onCluster(rendering).map(({ kind, metadata }) => `${kind}/${metadata?.name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

test('every rendered selector matches the pods of this deployment only, or those of its application for their names', () => {
  always((rendering) => {
    const { labels } = podOf(rendering).template.metadata ?? {};
    const selectors = onCluster(rendering).flatMap((object) => {
      if (object.kind === 'Deployment') return [object.spec?.selector.matchLabels];
      if (object.kind === 'NetworkPolicy') return [object.spec?.podSelector?.matchLabels];
      return object.kind === 'Service' ? [object.spec?.selector] : [];
    });
    for (const selector of selectors) {
      expect(labels).toMatchObject(selector ?? { none: 'at all' });
      const isOfNames = selector !== undefined && 'fleet/network' in selector;
      expect(selector).toEqual(
        isOfNames ? { 'fleet/network': rendering.application?.id } : { 'fleet/deployment': rendering.id },
      );
    }
  });
});

test('every rendering has requests that do not exceed the limits', () => {
  always((rendering) => {
    const { requests = {}, limits = {} } = podOf(rendering).container.resources ?? {};
    for (const [name, limit] of Object.entries(limits)) {
      if (requests[name] !== undefined) expect(bytes(`${requests[name]}`)).toBeLessThanOrEqual(bytes(`${limit}`));
    }
    expect(milli(`${requests.cpu ?? ''}`)).toBe(milli(rendering.spec.cpu_request));
    const { spec, defaults, defaultLimits } = rendering;
    const byDefault = defaults >= 2 ? (defaultLimits.memory_bytes ?? 0) : 0;
    expect(bytes(`${limits.memory ?? ''}`)).toBe(bytes(spec.memory_limit) || bytes(spec.memory_request) || byDefault);
  });
});

test('every rendered list with keys has distinct keys', () => {
  always((rendering) => {
    const { pod, container } = podOf(rendering);
    const keys = {
      env: container.env?.map(({ name }) => name),
      ports: container.ports?.map(({ containerPort, protocol }) => `${containerPort}/${protocol}`),
      portNames: container.ports?.map(({ name }) => name),
      mounts: container.volumeMounts?.map(({ mountPath }) => mountPath),
      volumes: pod.volumes?.map(({ name }) => name),
    };
    for (const list of Object.values(keys)) expect(new Set(list).size).toBe(list?.length ?? 0);
  });
});

test('every rendering contains the objects that its pods refer to', () => {
  always((rendering) => {
    const { pod, container } = podOf(rendering);
    const objects = onCluster(rendering);
    const named = (kind: string, name: string | undefined) =>
      objects.find((object) => object.kind === kind && object.metadata?.name === name);
    for (const { persistentVolumeClaim, secret, emptyDir } of pod.volumes ?? []) {
      const object = persistentVolumeClaim
        ? named('PersistentVolumeClaim', persistentVolumeClaim.claimName)
        : ((secret && named('Secret', secret.secretName)) ?? emptyDir);
      expect(object).toBeDefined();
      for (const { key } of secret?.items ?? []) expect(object).toHaveProperty(['data', key]);
    }
    for (const { name } of container.volumeMounts ?? [])
      expect(pod.volumes?.map((volume) => volume.name)).toContain(name);
    for (const { name } of pod.imagePullSecrets ?? []) expect(named('Secret', name)).toBeDefined();
    for (const { name, key } of (container.env ?? []).flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? [])) {
      expect(named('Secret', name)).toHaveProperty(['data', key]);
    }
  });
});

test('every workload that matches the contract is rendered, or rejected with the reasons', () => {
  assertProperty(
    fc.property(anySpec, (spec) => {
      try {
        onCluster(aRendering(spec)).forEach(assertValid);
      } catch (error) {
        expect(String(error)).toContain('cannot be rendered: ');
      }
    }),
    RUNS,
  );
});
