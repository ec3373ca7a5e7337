import { useState } from 'react';
import { type FieldMessage, fieldErrorsOf } from '../../../shared/api/problem.ts';

/** The plan of the present input, as far as a form needs it. */
interface Plan {
  readonly data: { readonly ok: boolean; readonly refusals: readonly FieldMessage[] } | undefined;
  readonly fieldErrors: readonly FieldMessage[];
  readonly isInvalid: boolean;
  readonly isStale: boolean;
}

/** The request that creates what the form describes. */
interface Creation {
  readonly error: unknown;
  readonly reset: () => void;
}

/** The input of a form with the plan beside it. */
export function usePlannedForm<D extends object>(first: D | (() => D)) {
  const [draft, setDraft] = useState(first);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [isSubmitted, setSubmitted] = useState(false);
  const [idempotencyKey, setIdempotencyKey] = useState(() => crypto.randomUUID());

  const withPlan = (plan: Plan, creation: Creation) => {
    const messages = [...fieldErrorsOf(creation.error), ...plan.fieldErrors, ...(plan.data?.refusals ?? [])];
    const messageAt = (path: string) =>
      messages.find((one) => one.path === path || one.path.startsWith(`${path}.`))?.message;
    /** Whether the user has changed the field or submitted the form. */
    const isShown = (path: string) => isSubmitted || touched.has(path);
    const isRejected = plan.data !== undefined && !plan.isStale && !plan.isInvalid && !plan.data.ok;
    return {
      isSubmitted,
      isRejected,
      isShown,
      messageAt,
      /** A message appears when the user has changed the field or submitted the form. */
      errorAt: (path: string) => (isShown(path) ? messageAt(path) : undefined),
      change: (path: string, changed: Partial<D>) => {
        if (creation.error) {
          creation.reset();
          setIdempotencyKey(crypto.randomUUID()); // another request than the one that failed
        }
        setTouched((current) => new Set([...current, path]));
        setDraft((current) => ({ ...current, ...changed }));
      },
      /** Sends the request, or moves the focus to the first field with an error. */
      submit: (
        send: (idempotencyKey: string) => void,
        isPossible = !isRejected && (!plan.isInvalid || plan.isStale),
      ) => {
        setSubmitted(true);
        if (isPossible) send(idempotencyKey);
        else requestAnimationFrame(() => document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
      },
    };
  };
  return { draft, withPlan };
}
