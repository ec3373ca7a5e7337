import { href } from '../../../shared/routing/href.ts';

/** The address of a field in the form for a new revision of a workload. */
export const workloadField = (id: string, field: string): string =>
  href('/workloads/:id/revision', { id }, { edit: field });
