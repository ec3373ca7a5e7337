import fc from 'fast-check';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import { bytes, milli } from '../../src/placement/quantity.ts';
import { renderDocker } from '../../src/render/docker.ts';
import { type KubernetesObject, renderKubernetes } from '../../src/render/kubernetes.ts';
import type { Rendering } from '../../src/render/rendering.ts';
import { withoutValues } from '../../src/render/secrets.ts';
import { anyRendering, anySpec } from './arbitrary.ts';
import { dockerManifest } from './docker-schemas.ts';
import { demandValid } from './kubernetes-schemas.ts';
import { aCluster, aHost, aRendering, CANARY, shown } from './renderings.ts';

const RUNS = { numRuns: 300 };
const cluster = aCluster({ default_storage_class: 'standard' });
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

/** Holds for every deployment of a workload that engines take. */
const always = (what: (rendering: Rendering<'values'>) => void): void => {
  fc.assert(fc.property(anyRendering, what), RUNS);
};

/** The text of something and of all that is in it as base64, however deep: a secret has nowhere to hide. */
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

test('what is rendered for a cluster is what Kubernetes declares', () => {
  always((rendering) => onCluster(rendering).forEach(demandValid));
});

test('what is rendered for a host is what its engine takes', () => {
  fc.assert(
    fc.property(anyRendering, engines, (rendering, engine) => {
      dockerManifest.parse(renderDocker(rendering, aHost(rendering, engine)));
    }),
    RUNS,
  );
});

test('the same deployment is the same text', () => {
  always((rendering) => {
    const again = { ...rendering, spec: structuredClone(rendering.spec), volumes: [...rendering.volumes].reverse() };
    expect(JSON.stringify(onCluster(again))).toBe(JSON.stringify(onCluster(rendering)));
    expect(JSON.stringify(renderDocker(again, aHost(again)))).toBe(
      JSON.stringify(renderDocker(rendering, aHost(rendering))),
    );
  });
});

test('what people see holds no secret, and the way to see it finds those that are there', () => {
  always((rendering) => {
    const values = readable([onCluster(rendering), renderDocker(rendering, aHost(rendering))]);
    const { secret_refs, registry_credentials } = rendering.spec;
    expect(values.includes(CANARY)).toBe(secret_refs.length > 0 || registry_credentials !== null);
    for (const seen of [shown(rendering), withoutValues(rendering)]) {
      expect(readable([onCluster(seen), renderDocker(seen, aHost(seen))])).not.toContain(CANARY);
    }
  });
});

test('on a cluster, a secret’s value is in Secrets and nowhere else', () => {
  always((rendering) => {
    const others = onCluster(rendering).filter(({ kind }) => kind !== 'Secret');
    expect(readable(others)).not.toContain(CANARY);
  });
});

test('names are DNS labels that a Service takes, and those of the pods are not too long', () => {
  always((rendering) => {
    for (const { kind, metadata } of onCluster(rendering)) {
      expect(metadata?.name).toMatch(/^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
      const added = { Deployment: '-1234567890-12345', Job: '-12345' }[kind as string] ?? '';
      expect(`${metadata?.name}${added}`.length).toBeLessThanOrEqual(63);
    }
  });
});

test('no two objects of a kind have one name', () => {
  always((rendering) => {
    const names = onCluster(rendering).map(({ kind, metadata }) => `${kind}/${metadata?.name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

test('selectors match the pods, and no pod of another deployment', () => {
  always((rendering) => {
    const { labels } = podOf(rendering).template.metadata ?? {};
    const selectors = onCluster(rendering).flatMap((object) => {
      if (object.kind === 'Deployment') return [object.spec?.selector.matchLabels];
      return object.kind === 'Service' ? [object.spec?.selector] : [];
    });
    for (const selector of selectors) {
      expect(labels).toMatchObject(selector ?? { none: 'at all' });
      expect(selector).toEqual({ 'fleet/deployment': rendering.id });
    }
  });
});

test('no more is asked for than is allowed', () => {
  always((rendering) => {
    const { requests = {}, limits = {} } = podOf(rendering).container.resources ?? {};
    for (const [name, limit] of Object.entries(limits)) {
      if (requests[name] !== undefined) expect(bytes(`${requests[name]}`)).toBeLessThanOrEqual(bytes(`${limit}`));
    }
    expect(milli(`${requests.cpu ?? ''}`)).toBe(milli(rendering.spec.cpu_request));
    expect(bytes(`${limits.memory ?? ''}`)).toBe(bytes(rendering.spec.memory_request));
  });
});

test('what is a list with keys in Kubernetes has each key once', () => {
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

test('what a pod refers to is rendered with it', () => {
  always((rendering) => {
    const { pod, container } = podOf(rendering);
    const objects = onCluster(rendering);
    const named = (kind: string, name: string | undefined) =>
      objects.find((object) => object.kind === kind && object.metadata?.name === name);
    for (const { claimName } of (pod.volumes ?? []).map(
      ({ persistentVolumeClaim }) => persistentVolumeClaim ?? { claimName: '' },
    )) {
      expect(named('PersistentVolumeClaim', claimName)).toBeDefined();
    }
    for (const { name } of container.volumeMounts ?? [])
      expect(pod.volumes?.map((volume) => volume.name)).toContain(name);
    for (const { name } of pod.imagePullSecrets ?? []) expect(named('Secret', name)).toBeDefined();
    for (const { name, key } of (container.env ?? []).flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? [])) {
      expect(named('Secret', name)).toHaveProperty(['data', key]);
    }
  });
});

test('a workload that the contract takes is rendered, or refused with the reasons', () => {
  fc.assert(
    fc.property(anySpec, (spec) => {
      try {
        onCluster(aRendering(spec)).forEach(demandValid);
      } catch (error) {
        expect(String(error)).toContain('not to be rendered: ');
      }
    }),
    RUNS,
  );
});
