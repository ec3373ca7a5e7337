import type { Stored } from '../objects.ts';
import { badRequest, Refusal } from '../refusal.ts';
import type { Candidate } from './admission.ts';

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
