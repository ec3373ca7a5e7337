import { review } from '../../../../../../../infra/cluster/policies/webhooks.mjs';
import type { Stored } from '../objects.ts';
import { badRequest, Refusal } from '../refusal.ts';
import type { Candidate } from './candidate.ts';

/** An admission webhook. It is called for each object of its kinds that is created or changed. */
export interface Webhook {
  readonly name: string;
  /** `Pod`, `Deployment`, … */
  readonly kinds: readonly string[];
  /** Without it, the webhook supports no dry runs. */
  readonly sideEffects: 'None' | 'Some';
  /** Returns the changed object. */
  readonly mutate?: (object: Stored) => Stored;
  /** Returns why the object is denied; undefined if it is allowed. */
  readonly deny?: (object: Stored) => string | undefined;
}

const WORKLOADS = ['Deployment', 'Job', 'Pod'];

/** The webhooks of the test cluster (infra/cluster), for a namespace with these labels. */
export function webhooksOfTestCluster(labels: Readonly<Record<string, string>>): Webhook[] {
  const validating = (name: string, kinds: readonly string[]): Webhook => ({
    name: `${name}.cluster.test`,
    kinds,
    sideEffects: 'None',
    deny: (object) => review(name, labels, { uid: '', object }).status?.message,
  });
  return [
    {
      name: 'mutate.cluster.test',
      kinds: WORKLOADS,
      sideEffects: 'None',
      mutate: (object) => patched(object, review('mutate', labels, { uid: '', object }).patch),
    },
    validating('deny', WORKLOADS),
    validating('require-label', ['Deployment', 'Job', 'Service', 'Secret', 'PersistentVolumeClaim']),
    validating('require-pod-label', ['Pod']),
  ];
}

interface Operation {
  readonly op: 'add' | 'replace';
  readonly path: string;
  readonly value: unknown;
}

/** The object after the operations of a JSON patch (RFC 6902) in base64. */
function patched(object: Stored, patch = 'W10='): Stored {
  const copy = structuredClone(object);
  for (const { op, path, value } of JSON.parse(Buffer.from(patch, 'base64').toString()) as Operation[]) {
    const steps = path
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = steps.pop() ?? '';
    // biome-ignore lint/suspicious/noExplicitAny: the operations of the test cluster name existing members
    const parent = steps.reduce((at: any, step) => at[step], copy);
    if (op === 'add' && Array.isArray(parent)) parent.push(value);
    else parent[last] = value;
  }
  return copy;
}

const calledFor = (webhooks: readonly Webhook[], { kind, isDryRun }: Candidate): readonly Webhook[] =>
  webhooks.filter((webhook) => {
    if (!webhook.kinds.includes(kind.kind)) return false;
    if (isDryRun && webhook.sideEffects === 'Some')
      throw badRequest(`admission webhook "${webhook.name}" does not support dry run`);
    return true;
  });

export const mutated = (webhooks: readonly Webhook[], candidate: Candidate): Stored =>
  calledFor(webhooks, candidate).reduce((object, { mutate }) => mutate?.(object) ?? object, candidate.object);

export function assertAdmitted(webhooks: readonly Webhook[], candidate: Candidate): void {
  for (const { name, deny } of calledFor(webhooks, candidate)) {
    const why = deny?.(candidate.object);
    if (why === undefined) continue;
    throw new Refusal(403, 'Forbidden', { message: `admission webhook "${name}" denied the request: ${why}` });
  }
}
