// The application that a conversion writes. Members with their defaults are left out.
import { stringify } from 'yaml';

export interface ApplicationInput {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'choice' | 'secret';
  readonly choices?: readonly string[];
  readonly required: boolean;
  readonly default?: string;
}

/** A secret value that the fleet generates once. `length` counts characters, of `base64` random bytes. */
export interface GeneratedValue {
  readonly name: string;
  readonly length: number;
  readonly format: 'text' | 'hex' | 'base64';
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
  /** By default `0444`. */
  readonly mode?: '0555';
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
  readonly tmpfs?: readonly { readonly path: string; readonly size: string }[];
  readonly read_only_root?: true;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly cpu_request?: string;
  readonly cpu_limit?: string;
  readonly memory_request?: string;
  readonly memory_limit?: string;
  readonly gpu_count?: number;
  readonly node_selector?: Readonly<Record<string, string>>;
  readonly stop_grace_seconds?: number;
}

/** What the file says about the application for a catalog. */
export interface Description {
  readonly description?: string;
  readonly documentation?: string;
  /** The slug of a category, which a hub may not have. */
  readonly category?: string;
  readonly tags?: readonly string[];
}

export interface Application extends Description {
  readonly name: string;
  readonly slug: string;
  readonly inputs: readonly ApplicationInput[];
  readonly generated?: readonly GeneratedValue[];
  readonly parts: readonly ApplicationPart[];
}

/** An application as a YAML document. */
export const applicationYaml = (application: object): string => stringify(application, { lineWidth: 0 });
