/** Body of `POST /containers/create` of the Docker Engine API, from version 1.41 on: what we use of it. */
export interface ContainerBody {
  readonly Image: string;
  readonly Cmd?: readonly string[];
  readonly Env: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
  readonly ExposedPorts: Readonly<Record<string, Readonly<Record<string, never>>>>;
  /** Seconds between the signal to end and the end. */
  readonly StopTimeout: number;
  readonly HostConfig: HostConfig;
}

export interface HostConfig {
  readonly NanoCpus?: number;
  readonly Memory?: number;
  readonly MemoryReservation?: number;
  readonly RestartPolicy: { readonly Name: 'no' | 'on-failure'; readonly MaximumRetryCount: number };
  readonly Mounts: readonly Mount[];
  readonly PortBindings: Readonly<Record<string, readonly { readonly HostIp?: string; readonly HostPort: string }[]>>;
  readonly SecurityOpt: readonly string[];
  readonly LogConfig: { readonly Type: string; readonly Config: Readonly<Record<string, string>> };
  readonly DeviceRequests?: readonly DeviceRequest[];
}

export interface Mount {
  readonly Type: 'volume';
  readonly Source: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
}

export interface DeviceRequest {
  readonly Driver: string;
  readonly DeviceIDs: readonly string[];
  readonly Capabilities?: readonly (readonly string[])[];
}

/** Body of `POST /volumes/create`. */
export interface VolumeBody {
  readonly Name: string;
  readonly Driver: 'local';
  readonly Labels: Readonly<Record<string, string>>;
}
