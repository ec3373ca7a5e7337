import type { Remedy } from '@svc/contract/fleet';

type FieldOf<O extends Remedy['object']> = Extract<Remedy, { object: O }>['field'];

/** A field of the candidate. */
export const onTarget = (field: FieldOf<'target'>, values: readonly string[] = []): Remedy => ({
  object: 'target',
  field,
  values: [...values],
});

/** A field of the deployment that is planned. */
export const onRequest = (field: FieldOf<'request'>, values: readonly string[] = []): Remedy => ({
  object: 'request',
  field,
  values: [...values],
});

/** A field of the workload. */
export const ofWorkload = (field: FieldOf<'workload'>, values: readonly string[] = []): Remedy => ({
  object: 'workload',
  field,
  values: [...values],
});

/** Amounts of one resource: of one replica, and on the candidate. */
interface Shortage {
  /** Greater than 0. */
  readonly each: number;
  readonly replicas: number;
  readonly free: number;
  readonly total: number;
}

/**
 * What makes a resource sufficient: as many replicas as fit, or that other deployments stop.
 * `tooLarge` applies if the candidate has too little for one replica.
 */
export function capacityRemedies({ each, replicas, free, total }: Shortage, tooLarge: Remedy): Remedy[] {
  const most = Math.floor(total / each);
  if (most === 0) return [tooLarge];
  const fitting = Math.floor(free / each);
  if (fitting > 0) return [onRequest('replicas', [String(fitting)])];
  const others: Remedy = { object: 'deployments', field: 'desired_state', values: [] };
  return most < replicas ? [onRequest('replicas', [String(most)]), others] : [others];
}
