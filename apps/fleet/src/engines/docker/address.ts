import type { OutboundAllowance } from '@svc/http';

/** A machine whose engine is called. */
export interface HostAddress {
  readonly engine: 'docker' | 'podman';
  /** `unix:///path`, or `tcp://host:port`: by TLS where there are credentials. */
  readonly endpoint: string;
  readonly credentials: { readonly ca_certificate: string; readonly certificate: string; readonly key: string } | null;
  /** What endpoints that were set through the API may be beside public; left out for what the operator set. */
  readonly restrictTo?: ReadonlySet<OutboundAllowance> | undefined;
}

/** Milliseconds. */
export interface Timing {
  /** For an answer, its whole body included. */
  readonly answer: number;
  /** For an answer to what changes something: networks and mounts are made meanwhile. */
  readonly change: number;
  /** That a pull may say nothing, and that it may take. */
  readonly pullIdle: number;
  readonly pull: number;
  /** Before an engine is asked again for what it could not tell. */
  readonly again: number;
  /** That a container has been up before it counts as running. */
  readonly settled: number;
  /** What ended by itself sooner than this has crashed, whatever its exit code. */
  readonly shortLife: number;
}

/** The values of production. */
export const TIMING: Timing = {
  answer: 15_000,
  change: 60_000,
  pullIdle: 600_000,
  pull: 3_600_000,
  again: 100,
  settled: 3000,
  shortLife: 10_000,
};
