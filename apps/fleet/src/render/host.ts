import type { Protocol } from './rendering.ts';

/** A port of a host that is allocated to one of a container. */
export interface HostPort {
  readonly containerPort: number;
  readonly protocol: Protocol;
  readonly hostPort: number;
  readonly hostIp?: string;
}

/** What of a host shows in its containers: its engine, and what is allocated to each of them, by ordinal. */
export interface Host {
  readonly engine: 'docker' | 'podman';
  /** Ids of GPUs as the engine names them: an index, a UUID or a CDI device. */
  readonly gpus: readonly (readonly string[])[];
  readonly ports: readonly (readonly HostPort[])[];
}
