import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v1/HorizontalPodAutoscaler';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import type { KubernetesObject } from '../../../src/render/kubernetes.ts';
import { undeclared } from './members.ts';

const KINDS = {
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Secret,
  Service,
};

/**
 * @throws the errors of an object against the schema of its kind, and members that the schema does
 * not declare
 */
export function assertValid(object: KubernetesObject): void {
  const Kind = KINDS[object.kind];
  new Kind(object as never).validate();
  const unknown = undeclared(object);
  if (unknown.length > 0) throw new Error(`${object.kind} has no ${unknown.join(', ')}`);
}
