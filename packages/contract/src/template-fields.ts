import { z } from 'zod';
import { line, text } from './wire.ts';

/** Tiers of an organization, the lowest first. */
export const tiers = ['free', 'pro', 'enterprise'] as const;
export const tier = z.enum(tiers);

/** A Kubernetes quantity (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/); '' is "not said". */
export const quantity = z
  .string()
  .max(64, 'must have at most 64 characters')
  .regex(
    /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?)?$/,
    'must be a Kubernetes quantity such as 500m, 2 or 8Gi, or "" for not said',
  );

const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
export const dnsLabel = z
  .string()
  .regex(DNS_LABEL, 'must be a DNS label: 1 to 63 lower-case letters, digits and inner hyphens');

export const variable = z
  .string()
  .max(256, 'must have at most 256 characters')
  .regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/, 'must be the name of an environment variable');

export const word = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,62}$/, 'must be a lower-case word of at most 63 letters, digits and hyphens');

export const labelKey = z
  .string()
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/,
    'must be a label key such as gpu or example.com/gpu',
  );
export const labelValue = z
  .string()
  .regex(/^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/, 'must be a label value of at most 63 characters');

export const list = <T extends z.ZodType>(item: T) => z.array(item).max(256, 'must have at most 256 entries');

export const toleration = z
  .strictObject({
    key: labelKey.optional(),
    operator: z.enum(['Exists', 'Equal']).optional(),
    value: labelValue.optional(),
    effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
    tolerationSeconds: z.int().min(0).optional(),
  })
  .meta({ id: 'Toleration', description: 'A Kubernetes toleration' });

export const secretRef = z
  .strictObject({ name: dnsLabel, key: line(253).optional(), env: variable })
  .meta({ id: 'SecretRef', description: 'A secret of the fleet, by name, and the variable that it fills' });

export const envVariable = z.strictObject({ name: variable, value: text(32_768) }).meta({ id: 'EnvVariable' });

export const envSchemaEntry = z
  .strictObject({
    name: variable,
    required: z.boolean().default(false),
    default_value: text(32_768).default(''),
    description: text(4000).default(''),
  })
  .meta({ id: 'EnvSchemaEntry' });

export const port = z
  .strictObject({
    containerPort: z.int().min(1).max(65_535),
    protocol: z
      .string()
      .regex(/^(?:tcp|udp|sctp)$/i, 'must be TCP, UDP or SCTP')
      .default('TCP'),
  })
  .meta({ id: 'Port' });

export const volumeMount = z
  .strictObject({
    name: dnsLabel,
    mountPath: line(4096)
      .refine((path) => path.startsWith('/'), 'must be an absolute path')
      .refine(
        (path) => !/[,:"]/.test(path),
        'must not hold a comma, a colon or a quotation mark: engines give them a meaning',
      ),
  })
  .meta({ id: 'VolumeMount' });

const registryCredentials = z
  .string()
  .regex(
    DNS_LABEL,
    'must be the name of a pull secret in the fleet (a DNS label): the hub never holds a registry password',
  );

const httpsUrl = line(2048).refine(
  (value) => URL.canParse(value) && new URL(value).protocol === 'https:',
  'must be an https URL',
);

/** What a publisher writes of a template, without `name`, `slug` and `category_id`: each member's rule. */
export const templateFields = {
  description: text(4000),
  version: line(64),
  kind: word,
  image_name: z
    .string()
    .max(255, 'must have at most 255 characters')
    .regex(
      /^(?:[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)?$/,
      'must be an image name without registry and tag, such as library/postgres',
    ),
  image_tag: z.string().regex(/^\w[\w.-]{0,127}$/, 'must be an image tag such as 1.2.3'),
  cpu_request: quantity,
  memory_request: quantity,
  gpu_count: z.int().min(0).max(1024),
  vram_request: quantity,
  concurrent_jobs: z.int().min(1).max(1_000_000),
  env: list(envVariable),
  env_schema: list(envSchemaEntry),
  ports: list(port),
  volume_mounts: list(volumeMount),
  node_selector: z.record(labelKey, labelValue),
  required_network_types: list(word),
  tags: list(
    line(64)
      .transform((tag) => tag.trim())
      .refine((tag) => tag !== '' && !tag.includes(','), 'must not be blank or hold a comma'),
  ),
  is_public: z.boolean(),
  is_featured: z.boolean(),
  min_tier: tier,
  documentation: text(500_000),
  registry_url: z
    .string()
    .max(255, 'must have at most 255 characters')
    .regex(
      /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?(?:\/[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)?$/,
      'must be a host with optional port and path, such as ghcr.io or registry.example.com:5000/team',
    )
    .nullable(),
  registry_credentials: registryCredentials.nullable(),
  secret_refs: list(secretRef),
  command: list(text(32_768)),
  tolerations: list(toleration),
  icon_url: httpsUrl.nullable(),
} as const;

/** What a new template has where its publisher says nothing. Text and quantities: '' is "not said". */
export const templateDefaults = {
  description: '',
  version: '1.0.0',
  kind: 'service',
  image_name: '',
  image_tag: 'latest',
  cpu_request: '',
  memory_request: '',
  gpu_count: 0,
  vram_request: '',
  concurrent_jobs: 1,
  env: [],
  env_schema: [],
  ports: [],
  volume_mounts: [],
  node_selector: {},
  required_network_types: [],
  tags: [],
  is_public: true,
  is_featured: false,
  min_tier: 'free',
  documentation: '',
  registry_url: null,
  registry_credentials: null,
  secret_refs: [],
  command: [],
  tolerations: [],
  icon_url: null,
} satisfies { [K in keyof typeof templateFields]: z.input<(typeof templateFields)[K]> };
