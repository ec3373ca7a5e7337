/** What of a cluster shows in its objects. */
export interface Cluster {
  readonly namespace: string;
  readonly gpu_resource_name: string;
  readonly default_storage_class: string | null;
}

/** What every object of a deployment has in its metadata, beside its own name. */
export interface Metadata {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
