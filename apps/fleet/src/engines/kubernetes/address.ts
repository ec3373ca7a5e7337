import type { OutboundAllowance } from '@svc/http';

/** A cluster whose API server is called, and as whom. */
export interface ClusterAddress {
  /** `https://host:port`, and a path where the API server is behind one. */
  readonly server: string;
  /** Whom to trust; null: the certificate authorities of the system. */
  readonly ca_certificate: string | null;
  readonly auth:
    | { readonly kind: 'token'; readonly token: string }
    | { readonly kind: 'client_certificate'; readonly certificate: string; readonly key: string };
  /** Where everything of the fleet goes. */
  readonly namespace: string;
  readonly gpu_resource_name: string;
  /** What servers that were set through the API may be beside public; left out for what the operator set. */
  readonly restrictTo?: ReadonlySet<OutboundAllowance> | undefined;
}

/** Milliseconds. */
export interface Timing {
  /** For an answer, its whole body included. */
  readonly answer: number;
  /** For an answer to what changes something: webhooks of the cluster are asked meanwhile. */
  readonly change: number;
  /** That a pod has been ready before it counts as running. */
  readonly settled: number;
  /** After which what should be gone is no longer waited for from moment to moment. */
  readonly overdue: number;
  /** That a watch may say nothing before it is begun anew. */
  readonly watch: number;
  /** The longest wait before a watch that broke is begun anew; it begins with a hundredth of it. */
  readonly watchAgain: number;
}

/** The values of production. */
export const TIMING: Timing = {
  answer: 15_000,
  change: 40_000,
  settled: 10_000,
  overdue: 60_000,
  watch: 90_000,
  watchAgain: 30_000,
};
