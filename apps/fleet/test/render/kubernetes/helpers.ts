import type { WorkloadSpec } from '@svc/contract/fleet';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import { type KubernetesObject, renderKubernetes } from '../../../src/render/kubernetes.ts';
import type { Rendering } from '../../../src/render/rendering.ts';
import { secretsWithValues } from '../../../src/render/secrets.ts';
import { aCluster, aRendering, aSpec } from '../renderings.ts';

type Objects = readonly KubernetesObject[];
type Kind<K extends KubernetesObject['kind']> = Extract<KubernetesObject, { kind: K }>;

/** The rendering of a workload for a cluster. */
export const render = (spec: Partial<WorkloadSpec> = {}, given: Partial<Rendering<'values'>> = {}): Objects =>
  renderKubernetes(aRendering(aSpec(spec), given), aCluster()).objects;

export const ofKind = <K extends KubernetesObject['kind']>(objects: Objects, kind: K): Kind<K>[] =>
  objects.filter((object): object is Kind<K> => object.kind === kind);

/** The Deployment of the rendering. */
export function deploymentOf(objects: Objects): NonNullable<IDeployment['spec']> {
  const spec = ofKind(objects, 'Deployment')[0]?.spec;
  if (!spec) throw new Error('no Deployment');
  return spec;
}

export const containerOf = (objects: Objects) => deploymentOf(objects).template.spec?.containers[0];

/** A workload with a secret, and that secret. */
export const secret = { secret_refs: [{ name: 'database', key: 'password', env: 'PASSWORD' }] };
export const secrets = (version: number, password: string) =>
  secretsWithValues([{ name: 'database', version, values: { password } }]);

/** A workload with a volume. */
export const volume = { volume_mounts: [{ name: 'data', mountPath: '/data' }] };
