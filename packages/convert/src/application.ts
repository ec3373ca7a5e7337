// The application that a conversion writes. Members with their defaults are left out.

export interface ApplicationInput {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'secret';
  readonly required: boolean;
  readonly default?: string;
}

export interface PartPort {
  readonly containerPort: number;
  readonly protocol?: 'UDP' | 'SCTP';
  readonly publish?: true;
  /** The port of the host that the file requests. The operator decides. */
  readonly host_port?: number;
}

export interface PartMount {
  readonly name: string;
  readonly mountPath: string;
  readonly read_only?: true;
  /** Mounts of other parts with the same name are the same volume. */
  readonly shared?: true;
}

export interface PartFile {
  readonly path: string;
  readonly content: string;
}

export interface PartNeed {
  readonly part: string;
  readonly until: 'started' | 'ready' | 'finished';
}

/** One container. */
export interface ApplicationPart {
  readonly name: string;
  readonly kind?: 'job';
  readonly registry_url?: string;
  readonly image_name: string;
  readonly image_tag?: string;
  readonly image_digest?: string;
  readonly needs?: readonly PartNeed[];
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly working_dir?: string;
  readonly run_as?: string;
  readonly ports?: readonly PartPort[];
  readonly volume_mounts?: readonly PartMount[];
  readonly files?: readonly PartFile[];
  readonly tmpfs?: readonly { readonly path: string; readonly size?: string }[];
  readonly read_only_root?: true;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly cpu_request?: string;
  readonly cpu_limit?: string;
  readonly memory_request?: string;
  readonly memory_limit?: string;
  readonly gpu_count?: number;
  readonly stop_grace_seconds?: number;
}

export interface Application {
  readonly name: string;
  readonly slug: string;
  readonly inputs: readonly ApplicationInput[];
  readonly parts: readonly ApplicationPart[];
}
