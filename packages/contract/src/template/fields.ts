import { z } from 'zod';
import { codedMessages } from '../shared/field-codes.ts';
import { tier } from '../shared/organization.ts';
import { timestamp } from '../shared/timestamp.ts';
import {
  commaSeparated,
  flag,
  id,
  ignored,
  line,
  NOT_BLANK,
  objectVersion,
  paging,
  record,
  searchIn,
  slug,
  storedName,
  text,
  uuid,
  wordQuery,
} from '../shared/wire.ts';
import { adviceFields, adviceReply, changeMessage, refuseStatusProblems } from './advice.ts';
import { templateConflicts } from './conflicts.ts';
import { hasValidOption, isReservedVariable } from './container-options.ts';
import { type AnyControl, type Control, textsOfControl } from './controls.ts';
import { divideImage } from './image-reference.ts';
import { refuseOldValues, warnings } from './new-values.ts';
import { DEFAULT_TEMPORARY_SIZE, temporaryFileSystems, workloadFiles } from './places.ts';
import { newSignatures, signaturesReply } from './signatures.ts';

/**
 * A Kubernetes quantity
 * (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/); '' means
 * unset.
 */
export const quantity = z
  .string()
  .max(64, 'must have at most 64 characters')
  .regex(/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?)?$/, codedMessages.quantity);

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
  .strictObject({
    name: dnsLabel,
    key: line(253).optional(),
    env: variable.refine((name) => !isReservedVariable(name), 'must not be a variable that configures the container'),
  })
  .meta({
    id: 'SecretRef',
    description: 'A secret of the fleet, by name, and the environment variable that receives its value',
  });

export const envVariable = z
  .strictObject({ name: variable, value: text(32_768) })
  .check(hasValidOption('value'))
  .meta({ id: 'EnvVariable' });

/** The end of the description of a secret variable. */
export const SECRET_MARKER = '[secret]';

/**
 * Whether a variable is secret: deployments bind it to a secret or generate its value. The shape of
 * a template is fixed, so a marker at the end of the description declares it.
 */
export const isSecretVariable = ({ description }: { readonly description: string }): boolean =>
  description.trimEnd().endsWith(SECRET_MARKER);

/**
 * The end of the description of an internal variable: a secret variable whose generated value is
 * never shown, because no person needs it. Versions that do not know it read `SECRET_MARKER`.
 */
export const INTERNAL_MARKER = `[internal] ${SECRET_MARKER}`;

export const envSchemaEntry = z
  .strictObject({
    name: variable,
    required: z.boolean().default(false),
    default_value: text(32_768).default(''),
    description: text(4000)
      .default('')
      .meta({ description: `If it ends with \`${SECRET_MARKER}\`, the variable is secret` }),
  })
  .refine((entry) => !isSecretVariable(entry) || entry.default_value === '', {
    path: ['default_value'],
    message: 'must be empty, because the description declares a secret variable',
  })
  .check(hasValidOption('default_value'))
  .meta({ id: 'EnvSchemaEntry' });

export const port = z
  .strictObject({
    containerPort: z.int().min(1).max(65_535),
    protocol: z
      .string()
      .regex(/^(?:[Tt][Cc][Pp]|[Uu][Dd][Pp]|[Ss][Cc][Tt][Pp])$/, 'must be TCP, UDP or SCTP')
      .default('TCP'),
    host_port: z.int().min(1).max(65_535).optional(),
  })
  .meta({ id: 'Port' });

export const volumeMount = z
  .strictObject({
    name: dnsLabel,
    mountPath: line(4096)
      .regex(/^\//, 'must be an absolute path')
      .regex(
        /^[^,:"]*$/,
        'must not contain a comma, a colon or a quotation mark, which have a special meaning for engines',
      ),
    read_only: z.boolean().optional(),
  })
  .meta({ id: 'VolumeMount' });

const imageName = z
  .string()
  .max(255, 'must have at most 255 characters')
  .regex(
    /^(?:[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?:(?::\w[\w.-]{0,127})?@sha256:[0-9a-f]{64})?)?$/,
    codedMessages.image_name,
  );

const imageTag = z.string().regex(/^\w[\w.-]{0,127}$/, 'must be an image tag such as 1.2.3');

const imageDigest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 hexadecimal digits in lower case');

const tag = line(64)
  .regex(NOT_BLANK, 'must not be blank')
  .regex(/^[^,]*$/, 'must not contain a comma')
  .transform((tag) => tag.trim());

/** A user id, and optionally a group id, without a name: the image decides what a name means. */
const userAndGroup = z
  .string()
  .regex(
    /^(?:0|[1-9]\d{0,8}|1\d{9})(?::(?:0|[1-9]\d{0,8}|1\d{9}))?$/,
    'must be a user id, optionally with a group id, such as 1000 or 1000:1000; root is 0, because only the image knows what a name means; ids are below 2000000000',
  );

const registryUrl = z
  .string()
  .max(255, 'must have at most 255 characters')
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?(?:\/[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)?$/,
    'must be a host with optional port and path, such as ghcr.io or registry.example.com:5000/team',
  );

const registryCredentials = z
  .string()
  .regex(
    DNS_LABEL,
    'must be the name of a pull secret of the fleet (a DNS label); the hub does not store registry passwords',
  );

const httpsUrl = line(2048)
  .regex(/^ *[Hh][Tt][Tt][Pp][Ss]:/, { message: 'must be an https URL', abort: true })
  .refine((value) => URL.canParse(value), 'must be an https URL');

/** A member that the publisher of a template writes. */
interface Declaration<Rule extends z.ZodType, Reply extends z.ZodType> {
  /** What a publisher may send. */
  readonly rule: Rule;
  /**
   * The value if the publisher leaves the member out. Readers also assume it for a template that
   * was stored before the member existed. In text and quantities, '' means unset.
   */
  readonly default: z.core.util.NoUndefined<z.output<Rule>> & z.input<Reply>;
  /**
   * A valid value other than the default. Tests send it through every place that handles the
   * member.
   */
  readonly example: z.output<Rule>;
  /**
   * What readers get. It is wider than the rule, so that a reader accepts values that only a newer
   * service allows.
   */
  readonly reply: Reply;
  /** What the member means, in the Markdown of docs/templates.md. */
  readonly meaning: string;
  /** What the consoles call the member, in English. */
  readonly label: string;
  /** How a publisher edits the member in the console of the hub. */
  readonly control: Control<z.output<Rule>>;
}

/** The topics of the members that specify what runs, in the order in which a workload lists its members. */
const workloadTopics = [
  'image',
  'environment',
  'ports',
  'volumes',
  'resources',
  'security',
  'scheduling',
  'networks',
] as const;
type WorkloadTopic = (typeof workloadTopics)[number];

/** The form of a template shows the members of a topic together. */
export type TemplateTopic = 'catalog' | 'documentation' | WorkloadTopic;

/**
 * A member that the publisher of a template writes. A workload copies a member whose topic is one of
 * `workloadTopics`, and a later change of it makes the copy outdated.
 */
const field = <Topic extends TemplateTopic, Reply extends z.ZodType, Rule extends z.ZodType<z.input<Reply>>>(
  topic: Topic,
  declaration: Declaration<Rule, Reply>,
) => ({
  ...declaration,
  topic,
  reply: z.prefault(declaration.reply, declaration.default).meta({ examples: [declaration.example] }),
  newRule: z._default(declaration.rule, declaration.default).meta({ examples: [declaration.example] }),
  changeRule: z.optional(declaration.rule).meta({ examples: [declaration.example] }),
});

/**
 * A member without a default: it is read-only, or `newTemplate` and `templateChange` state its
 * rules.
 */
const otherMember = <Reply extends z.ZodType>(reply: Reply) => ({ reply });

/**
 * Every member of a template, in the order in which replies have them. This is the only declaration
 * of a member: see docs/adding-a-template-member.md.
 */
const templateMembers = {
  id: otherMember(id),
  name: otherMember(z.string()),
  slug: otherMember(z.string()),
  description: field('catalog', {
    rule: text(4000),
    default: '',
    example: 'A server',
    reply: z.string(),
    meaning: 'one or two sentences; searched',
    label: 'Description',
    control: { kind: 'prose' },
  }),
  version: field('catalog', {
    rule: line(64),
    default: '1.0.0',
    example: '2.1.0',
    reply: z.string(),
    meaning: 'the version of the template, not of the program. Increase it with each change',
    label: 'Version',
    control: { kind: 'text' },
  }),
  kind: field('image', {
    rule: word,
    default: 'service',
    example: 'job',
    reply: z.string(),
    meaning:
      'a lower-case word of at most 63 characters. `job` runs until its work is done; everything else, such as `service` or `notebook`, is kept running',
    label: 'Kind',
    control: { kind: 'text', hint: 'Such as service or job.' },
  }),
  category_id: otherMember(id),
  category_name: otherMember(z.string()),
  category_slug: otherMember(z.string()),
  category_icon: otherMember(z.string()),
  image_name: field('image', {
    rule: imageName,
    default: '',
    example: 'library/server',
    reply: z.string(),
    meaning:
      'the image without registry and tag, in lower case. `name:tag@sha256:…` is divided into `image_name`, `image_tag` and `image_digest`',
    label: 'Image',
    control: { kind: 'text' },
  }),
  image_tag: field('image', {
    rule: imageTag,
    default: 'latest',
    example: '2.1',
    reply: z.string(),
    meaning:
      'the tag. Use a specific one: with `latest`, each restart and start [pulls the image again](deployments.md#images)',
    label: 'Tag',
    control: { kind: 'text' },
  }),
  image_digest: field('image', {
    rule: imageDigest.nullable(),
    default: null,
    example: `sha256:${'0123456789abcdef'.repeat(4)}`,
    reply: z.string().nullable(),
    meaning:
      'the digest of the image, `sha256:` and 64 hexadecimal digits: exactly this image is pulled, and the tag is for people; `null`: the tag decides. A change of `image_name`, `image_tag` or `registry_url` without `image_digest` sets it to `null`',
    label: 'Digest',
    control: { kind: 'text', hint: 'Empty: the tag decides.' },
  }),
  cpu_request: field('resources', {
    rule: quantity,
    default: '',
    example: '500m',
    reply: z.string(),
    meaning:
      'the CPU that one replica is allocated, and its limit on hosts: a Kubernetes quantity, such as `500m`, `2` or `8Gi`; `""`: nothing is requested',
    label: 'CPU',
    control: { kind: 'text' },
  }),
  cpu_limit: field('resources', {
    rule: quantity,
    default: '',
    example: '2',
    reply: z.string(),
    meaning:
      'the CPU that one replica can use at most, not less than `cpu_request`: a Kubernetes quantity. It reserves nothing. `""`: on clusters no limit, on hosts `cpu_request`',
    label: 'CPU limit',
    control: { kind: 'text', hint: 'Empty: no limit on clusters, the requested CPU on hosts.' },
  }),
  memory_request: field('resources', {
    rule: quantity,
    default: '',
    example: '1Gi',
    reply: z.string(),
    meaning:
      'the same for memory: a Kubernetes quantity, such as `500m`, `2` or `8Gi`; `""`: nothing is requested, and the [default limit](deployments.md#defaults) applies',
    label: 'Memory',
    control: { kind: 'text' },
  }),
  memory_limit: field('resources', {
    rule: quantity,
    default: '',
    example: '2Gi',
    reply: z.string(),
    meaning:
      'the memory that one replica can use at most, not less than `memory_request`: a Kubernetes quantity. It reserves nothing. `""`: `memory_request`, or without it the [default limit](deployments.md#defaults)',
    label: 'Memory limit',
    control: { kind: 'text', hint: 'Empty: the requested memory.' },
  }),
  gpu_count: field('resources', {
    rule: z.int().min(0).max(1024),
    default: 0,
    example: 2,
    reply: z.int(),
    meaning: 'the number of GPUs of one replica',
    label: 'GPUs',
    control: { kind: 'number' },
  }),
  vram_request: field('resources', {
    rule: quantity,
    default: '',
    example: '16Gi',
    reply: z.string(),
    meaning: 'the memory that each GPU must have: a Kubernetes quantity, such as `500m`, `2` or `8Gi`; `""`: any',
    label: 'Memory of a GPU',
    control: { kind: 'text' },
  }),
  concurrent_jobs: field('resources', {
    rule: z.int().min(1).max(1_000_000),
    default: 1,
    example: 4,
    reply: z.int(),
    meaning: 'the number of jobs that one instance processes at the same time; for information',
    label: 'Concurrent jobs',
    control: { kind: 'number', hint: 'How many jobs one instance processes at the same time.' },
  }),
  env: field('environment', {
    rule: list(envVariable),
    default: [],
    example: [{ name: 'A', value: '1' }],
    reply: z.array(z.object({ name: z.string(), value: z.string() })),
    meaning: 'fixed variables',
    label: 'Fixed variables',
    control: { kind: 'pairs', members: ['name', 'value'], hint: 'One per line: NAME=value.' },
  }),
  env_schema: field('environment', {
    rule: list(envSchemaEntry),
    default: [],
    example: [{ name: 'B', required: true, default_value: 'x', description: 'why' }],
    reply: z.array(
      z.object({
        name: z.string(),
        required: z.boolean().prefault(false),
        default_value: z.string().prefault(''),
        description: z.string().prefault(''),
      }),
    ),
    meaning: 'variables that a deployment sets',
    label: 'Variables that users set',
    control: {
      kind: 'objects',
      add: 'Add a variable',
      members: {
        name: { label: 'Name', control: { kind: 'text' } },
        default_value: { label: 'Default', control: { kind: 'text' } },
        description: { label: 'Description', control: { kind: 'prose' } },
        required: { label: 'Required', control: { kind: 'checkbox' } },
      },
      marks: {
        of: 'description',
        boxes: [
          {
            name: 'secret',
            mark: SECRET_MARKER,
            label: 'Secret',
            hint: 'A deployment generates the value or takes it from a secret.',
          },
          {
            name: 'internal',
            mark: '[internal]',
            label: 'Internal',
            hint: 'Only programs need the value. A generated one is never shown.',
            requires: 'secret',
          },
        ],
      },
    },
  }),
  ports: field('ports', {
    rule: list(port),
    default: [],
    example: [{ containerPort: 8080, protocol: 'TCP' }],
    reply: z.array(
      z.object({ containerPort: z.int(), protocol: z.string().prefault('TCP'), host_port: z.int().optional() }),
    ),
    meaning: 'the ports at which the program listens',
    label: 'Ports',
    control: {
      kind: 'ports',
      hint: 'One per line: port/protocol, with =port at the end to propose a port of the host.',
    },
  }),
  volume_mounts: field('volumes', {
    rule: list(volumeMount),
    default: [],
    example: [{ name: 'data', mountPath: '/data' }],
    // A mount without `read_only` has no such member, so that its copies and signatures stay valid.
    reply: z.array(z.object({ name: z.string(), mountPath: z.string(), read_only: z.boolean().optional() })),
    meaning: 'directories that outlive the container. The deployment determines the size of each volume',
    label: 'Volumes',
    control: { kind: 'mounts', hint: 'One per line: name=/path, with :ro at the end if the program only reads it.' },
  }),
  tmpfs: field('volumes', {
    rule: temporaryFileSystems,
    default: [],
    example: [{ path: '/tmp', size: '64Mi' }],
    reply: z.array(z.object({ path: z.string(), size: z.string().prefault(DEFAULT_TEMPORARY_SIZE) })),
    meaning:
      'directories in memory, which are empty when the container starts. Their content counts towards the memory of the container',
    label: 'Temporary directories',
    control: { kind: 'pairs', members: ['path', 'size'], hint: 'In memory. One per line: /path=64Mi.' },
  }),
  files: field('volumes', {
    rule: workloadFiles,
    default: [],
    example: [{ path: '/etc/server/server.conf', content: 'port = 8080\n', mode: '0444' }],
    reply: z.array(z.object({ path: z.string(), content: z.string(), mode: z.string().prefault('0444') })),
    meaning:
      'text files that the container has before its program starts, with at most 256 KiB together. Everybody who sees the template can read them, so they contain [no secrets](deployments.md#files-and-directories)',
    label: 'Files',
    control: {
      kind: 'objects',
      add: 'Add a file',
      members: {
        path: { label: 'Path', control: { kind: 'text', hint: 'Such as /etc/server/server.conf.' } },
        content: { label: 'Content', control: { kind: 'source', hint: 'No secrets. At most 64 KiB.' } },
        mode: {
          label: 'Use',
          control: { kind: 'select', options: { '0444': 'Read only', '0555': 'Read and run, for a script' } },
        },
      },
    },
  }),
  node_selector: field('scheduling', {
    rule: record(labelKey, labelValue),
    default: {},
    example: { zone: 'b' },
    reply: z.record(z.string(), z.string()),
    meaning: 'labels that the target must have, as in Kubernetes. Hosts have `kubernetes.io/arch`',
    label: 'Node labels',
    control: { kind: 'map', hint: 'One per line: key=value.' },
  }),
  required_network_types: field('networks', {
    rule: list(word),
    default: [],
    example: ['mesh'],
    reply: z.array(z.string()),
    meaning:
      'lower-case words for networks that the target must have, such as `mesh` and `public`. They determine [to which addresses ports bind](deployments.md#networks)',
    label: 'Required networks',
    control: { kind: 'words', hint: 'Separated by spaces.' },
  }),
  tags: field('catalog', {
    rule: list(tag).transform((tags) => [...new Set(tags)]),
    default: [],
    example: ['one', 'two'],
    reply: z.array(z.string()),
    meaning:
      'words for the filter of lists, which ignores the case; not blank, without commas. Repeated words are merged',
    label: 'Tags',
    control: { kind: 'tags', hint: 'Separated by commas.' },
  }),
  is_public: field('catalog', {
    rule: z.boolean(),
    default: true,
    example: false,
    reply: z.boolean(),
    meaning: '`false`: only administrators and the organization that owns the template see it',
    label: 'Public',
    control: { kind: 'checkbox' },
  }),
  is_featured: field('catalog', {
    rule: z.boolean(),
    default: false,
    example: true,
    reply: z.boolean(),
    meaning: 'whether `featured=true` lists the template',
    label: 'Featured',
    control: { kind: 'checkbox' },
  }),
  min_tier: field('catalog', {
    rule: tier,
    default: 'free',
    example: 'pro',
    reply: z.string(),
    meaning: 'the lowest tier of an organization that may deploy the template. It does not hide the template',
    label: 'Minimum tier',
    control: {
      kind: 'select',
      options: { free: 'Free: all organizations', pro: 'Pro', enterprise: 'Enterprise' },
    },
  }),
  download_count: otherMember(z.int()),
  documentation: field('documentation', {
    rule: text(500_000),
    default: '',
    example: '# Server\n',
    reply: z.string(),
    meaning:
      'Markdown: what the program does, how to connect, and one working example. `$ENDPOINT` stands for the address of a port',
    label: 'Documentation',
    control: { kind: 'markdown', hint: 'Markdown, as on a forge. Images are shown as links.' },
  }),
  registry_url: field('image', {
    rule: registryUrl.nullable(),
    default: null,
    example: 'registry.example.com:5000/team',
    reply: z.string().nullable(),
    meaning: 'the host of the registry, with optional port and path; `null`: Docker Hub',
    label: 'Registry',
    control: { kind: 'text', hint: 'Empty: Docker Hub.' },
  }),
  registry_credentials: field('image', {
    rule: registryCredentials.nullable(),
    default: null,
    example: 'pull-secret',
    reply: z.string().nullable(),
    meaning:
      'the name of a secret of kind `registry` in the fleet (at most 63 lower-case letters, digits and inner hyphens), for private images. The hub stores no registry passwords',
    label: 'Pull secret',
    control: { kind: 'text', hint: 'The name of a secret of the fleet.' },
  }),
  secret_refs: field('environment', {
    rule: list(secretRef),
    default: [],
    example: [{ name: 'token', key: 'value', env: 'TOKEN' }],
    reply: z.array(z.object({ name: z.string(), key: z.string().optional(), env: z.string() })),
    meaning: 'variables that take their values from secrets of the fleet, which must exist before the deployment',
    label: 'Variables from secrets',
    control: {
      kind: 'objects',
      add: 'Add a variable from a secret',
      members: {
        env: { label: 'Variable', control: { kind: 'text' } },
        name: { label: 'Secret', control: { kind: 'text', hint: 'The name of a secret of the fleet.' } },
        key: {
          label: 'Key',
          control: { kind: 'text', hint: 'Empty: the name of the variable, or the only key.' },
          isOptional: true,
        },
      },
    },
  }),
  command: field('image', {
    rule: list(text(32_768)),
    default: [],
    example: ['--port', '8080'],
    reply: z.array(z.string()),
    meaning: 'arguments for the entry point of the image',
    label: 'Command',
    control: { kind: 'lines', hint: 'One argument per line. Empty: that of the image.' },
  }),
  entrypoint: field('image', {
    rule: list(text(32_768)),
    default: [],
    example: ['/usr/bin/server'],
    reply: z.array(z.string()),
    meaning:
      'the program and its first arguments instead of the entry point of the image; `[]`: that of the image. With an entry point, the arguments of the image do not apply: only those in `command` do',
    label: 'Entry point',
    control: { kind: 'lines', hint: 'The program, then one argument per line. Empty: that of the image.' },
  }),
  working_dir: field('image', {
    rule: line(4096).regex(/^\//, 'must be an absolute path').nullable(),
    default: null,
    example: '/srv',
    reply: z.string().nullable(),
    meaning: 'the directory in which the program starts, an absolute path; `null`: that of the image',
    label: 'Working directory',
    control: { kind: 'text', hint: 'An absolute path. Empty: that of the image.' },
  }),
  stop_grace_seconds: field('image', {
    rule: z.int().min(1).max(600),
    default: 30,
    example: 120,
    reply: z.int(),
    meaning: 'the seconds between the signal to stop (SIGTERM, or that of the image) and SIGKILL',
    label: 'Time to stop',
    control: { kind: 'number', hint: 'Seconds until a program that does not stop is killed.' },
  }),
  start_period_seconds: field('image', {
    rule: z.int().min(0).max(1800),
    default: 0,
    example: 120,
    reply: z.int(),
    meaning:
      'the seconds that the program can take after its start until its [health check](deployments.md#shared-memory-and-health-checks) passes; `0`: 30 minutes. On clusters, a program that needs longer than a given time is started again',
    label: 'Time to start',
    control: { kind: 'number', hint: 'Seconds until the health check must pass. 0: 30 minutes.' },
  }),
  restart_unhealthy: field('image', {
    rule: z.boolean(),
    default: false,
    example: true,
    reply: z.boolean(),
    meaning:
      'whether a cluster starts a container again when its health check fails three times in a row (a liveness probe). A busy program then loses its work. Hosts ignore it',
    label: 'Restart when unhealthy (clusters)',
    control: { kind: 'checkbox' },
  }),
  security_profile: field('security', {
    rule: z.enum(['baseline', 'restricted'], 'must be baseline or restricted'),
    default: 'baseline',
    example: 'restricted',
    reply: z.string(),
    meaning:
      '`baseline`: the container has [a few capabilities](deployments.md#defaults) if it runs as root; `restricted`: it has none and must not run as root, as the profile `restricted` of the Pod Security Standards demands',
    label: 'Security profile',
    control: {
      kind: 'select',
      hint: 'Restricted is for programs that do not run as root.',
      options: { baseline: 'Baseline: a few capabilities', restricted: 'Restricted: not root, no capabilities' },
    },
  }),
  run_as: field('security', {
    rule: userAndGroup.nullable(),
    default: null,
    example: '1000:1000',
    reply: z.string().nullable(),
    meaning:
      'the ids of the user and optionally the group of the program, such as `1000` or `1000:1000`; `0` is root, and names are refused, because only the image knows what they mean; `null`: those of the image',
    label: 'User',
    control: { kind: 'text', hint: 'Ids, such as 1000 or 1000:1000; 0 is root. Empty: the user of the image.' },
  }),
  read_only_root: field('security', {
    rule: z.boolean(),
    default: false,
    example: true,
    reply: z.boolean(),
    meaning:
      'whether the program can write only to volumes and temporary directories, and to no other file of its container',
    label: 'Read-only file system',
    control: { kind: 'checkbox' },
  }),
  service_account_token: field('security', {
    rule: z.boolean(),
    default: false,
    example: true,
    reply: z.boolean(),
    meaning:
      'whether the program receives a token for the API of its cluster. It runs only on [clusters whose admin allows this](clusters.md#accounts-of-pods)',
    label: 'Token for the API of the cluster',
    control: { kind: 'checkbox' },
  }),
  tolerations: field('scheduling', {
    rule: list(toleration),
    default: [],
    example: [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }],
    reply: z.array(
      z.object({
        key: z.string().optional(),
        operator: z.string().optional(),
        value: z.string().optional(),
        effect: z.string().optional(),
        tolerationSeconds: z.int().optional(),
      }),
    ),
    meaning: 'taints of targets that the template tolerates, as in Kubernetes',
    label: 'Tolerations',
    control: {
      kind: 'objects',
      add: 'Add a toleration',
      members: {
        key: { label: 'Key', control: { kind: 'text', hint: 'Empty, with Exists: all taints.' }, isOptional: true },
        operator: {
          label: 'Operator',
          control: {
            kind: 'select',
            hint: 'Not set: Equal.',
            options: { Exists: 'Exists: any value', Equal: 'Equal: the same value' },
          },
          isOptional: true,
        },
        value: { label: 'Value', control: { kind: 'text' }, isOptional: true },
        effect: {
          label: 'Effect',
          control: {
            kind: 'select',
            hint: 'Not set: all effects.',
            options: { NoSchedule: 'NoSchedule', PreferNoSchedule: 'PreferNoSchedule', NoExecute: 'NoExecute' },
          },
          isOptional: true,
        },
        tolerationSeconds: { label: 'Seconds', control: { kind: 'number' }, isOptional: true },
      },
    },
  }),
  icon_url: field('catalog', {
    rule: httpsUrl.nullable(),
    default: null,
    example: 'https://example.com/icon.svg',
    reply: z.string().nullable(),
    meaning:
      'an https URL of a PNG, JPEG or WebP image of at most 64 KiB and 512 x 512 pixels, which the hub [fetches](hub-administration.md#icons)',
    label: 'Icon',
    control: { kind: 'text', hint: 'An https URL of a PNG, JPEG or WebP image, at most 512 x 512 pixels.' },
  }),
  revision: otherMember(adviceReply.revision),
  status: otherMember(adviceReply.status),
  status_message: otherMember(adviceReply.status_message),
  replacement: otherMember(adviceReply.replacement),
  advisories: otherMember(adviceReply.advisories),
  signatures: otherMember(signaturesReply),
  created_at: otherMember(timestamp),
  updated_at: otherMember(timestamp),
} as const;

type Members = typeof templateMembers;
export type TemplateField = {
  [M in keyof Members]: Members[M] extends { readonly rule: z.ZodType } ? M : never;
}[keyof Members];
type WorkloadMember = {
  [F in TemplateField]: Members[F] extends { readonly topic: WorkloadTopic } ? F : never;
}[TemplateField];

// Object.keys returns string[].
const memberNames = Object.keys(templateMembers) as (keyof Members)[];
const isField = (member: keyof Members): member is TemplateField => 'rule' in templateMembers[member];
const isAbout =
  (topic: WorkloadTopic) =>
  (name: TemplateField): name is WorkloadMember =>
    templateMembers[name].topic === topic;

/**
 * The members that the publisher of a template writes, without `name`, `slug` and `category_id`.
 */
export const templateFieldNames = memberNames.filter(isField);

/**
 * The members that specify what runs. A workload has them. Changes of other members do not make
 * workloads outdated.
 */
export const workloadMembers = workloadTopics.flatMap((topic) => templateFieldNames.filter(isAbout(topic)));

/** The part of a table of members that a workload has. */
export const workloadPart = <T extends Record<WorkloadMember, unknown>>(table: T) =>
  // fromEntries loses which key has which value.
  Object.fromEntries(workloadMembers.map((member) => [member, table[member]])) as Pick<T, WorkloadMember>;

/** The members that describe an object of the catalog. A template and an application have them. */
export const catalogMembers = [
  'description',
  'version',
  'tags',
  'is_public',
  'is_featured',
  'min_tier',
  'documentation',
] as const satisfies readonly Exclude<TemplateField, WorkloadMember>[];

/** One property of each member of a template that has it, by the name of the member. */
const propertyOf = <P extends keyof Members[TemplateField]>(property: P) =>
  Object.fromEntries(templateFieldNames.map((name) => [name, templateMembers[name][property]])) as {
    [F in TemplateField]: Members[F][P]; // Object.fromEntries loses which name has which value
  };

/** The rule for each member that a publisher can send. */
export const templateFields = propertyOf('rule');
export const newTemplateFields = propertyOf('newRule');
export const templateChangeFields = propertyOf('changeRule');
export const templateDefaults = propertyOf('default');
export const templateExamples = propertyOf('example');
export const templateMeanings = propertyOf('meaning');

/** What the consoles need to show and edit a member that the publisher of a template writes. */
export interface TemplateControl {
  readonly name: TemplateField;
  readonly topic: TemplateTopic;
  readonly label: string;
  readonly control: AnyControl;
  readonly default: unknown;
  readonly example: unknown;
}

export const templateControls: readonly TemplateControl[] = templateFieldNames.map((name) => {
  const { topic, label, control, default: value, example } = templateMembers[name];
  return { name, topic, label, control, default: value, example };
});

/** The English texts of the declarations, which the consoles translate. */
export const templateTexts: readonly string[] = [...new Set(templateControls.flatMap(textsOfControl))];

/** Every member, as in responses. */
export const templateReply = Object.fromEntries(memberNames.map((name) => [name, templateMembers[name].reply])) as {
  [M in keyof Members]: Members[M]['reply']; // Object.fromEntries loses which name has which value
};

/** A template, as callers see it. */
export const template = z.object(templateReply).meta({ id: 'Template' });
export type Template = z.output<typeof template>;

/**
 * A template, as administrators see it: with its owner and the version of the object, which
 * `version` does not denote.
 */
export const ownedTemplate = template
  .extend({ owner_org_id: id.nullable(), resource_version: objectVersion, warnings })
  .meta({ id: 'OwnedTemplate' });

/** Filters of a list of templates. Visibility is applied separately. */
export const templateFilters = {
  category: line(200).optional().meta({ description: 'Slug of a category' }),
  search: searchIn('name or the description'),
  q: wordQuery(),
  featured: flag.optional().meta({ description: '`true`: only featured templates; `false`: all templates' }),
  tags: commaSeparated
    .optional()
    .meta({ description: 'Comma-separated; a template matches if it has at least one of them' }),
};

/** How much of each template a list contains. */
export const templateView = z
  .enum(['full', 'summary'], 'must be full or summary')
  .default('full')
  .meta({ description: '`summary`: `documentation`, `signatures` and `files` are empty' });

export const templateListQuery = z.strictObject({ ...templateFilters, ...paging, view: templateView });

/** What responses add to what a publisher writes. */
export const readOnly = ignored(
  'category_name',
  'category_slug',
  'category_icon',
  'download_count',
  'revision',
  'advisories',
  'created_at',
  'updated_at',
  'resource_version',
  'warnings',
);

const ownership = { owner_org_id: uuid.nullable() };

const described = {
  name: storedName,
  slug: slug.optional(),
  category_id: uuid,
  ...newTemplateFields,
  owner_org_id: ownership.owner_org_id.default(null),
};

/** Refuses values of a template that contradict each other. */
export const refuseConflicts = z.check<Parameters<typeof templateConflicts>[0]>(({ value, issues }) => {
  for (const { path, message } of templateConflicts(value))
    issues.push({ code: 'custom', path: path.split('.'), message, input: value });
});

/** A template in a catalog file. It can have values from before the rules for new values. */
export const templateInFile = z
  .strictObject({ ...described, ...adviceFields, ...ignored('id'), ...readOnly })
  .check(divideImage)
  .check(refuseConflicts)
  .check(refuseStatusProblems);

/** The content of a template: what its publisher writes, and its revisions contain. */
export const templateContent = template
  .omit({
    id: true,
    category_name: true,
    category_slug: true,
    category_icon: true,
    download_count: true,
    revision: true,
    status: true,
    status_message: true,
    replacement: true,
    advisories: true,
    signatures: true,
    created_at: true,
    updated_at: true,
  })
  .extend({ owner_org_id: id.nullable() })
  .meta({ id: 'TemplateContent' });
export type TemplateContent = z.output<typeof templateContent>;

/** The rules for the content of a template that is written again. */
export const restoredContent = z
  .strictObject(described)
  .check(divideImage)
  .check(refuseConflicts)
  .check(refuseOldValues);

const { status, status_message, replacement } = template.shape;

/** What a catalog file states, with defaults for what it leaves out. */
export const templateInForm = templateContent
  .extend({
    status,
    status_message,
    replacement,
    slug: z.string().meta({ description: '`""`: it derives from the name' }),
    category_id: id.nullable().meta({ description: 'null: the hub has no category with this slug' }),
    owner_org_id: id.nullable().meta({ description: 'null: no owner, or the hub has no organization with this slug' }),
  })
  .meta({ id: 'TemplateInForm' });

/**
 * A new template. Only `name` and `category_id` are required. The default slug derives from the
 * name.
 */
export const newTemplate = z
  .strictObject({
    ...described,
    ...adviceFields,
    signatures: newSignatures.default([]),
    message: changeMessage,
    ...ignored('id'),
    ...readOnly,
  })
  .check(divideImage)
  .check(refuseConflicts)
  .check(refuseStatusProblems)
  .check(refuseOldValues)
  .meta({ id: 'NewTemplate' });

/**
 * A change of a template. Members that are left out do not change. `id` can be in the query
 * instead.
 */
export const templateChange = z
  .strictObject({
    id: uuid.optional(),
    name: storedName.optional(),
    slug: slug.optional(),
    category_id: uuid.optional(),
    ...templateChangeFields,
    owner_org_id: ownership.owner_org_id.optional(),
    ...adviceFields,
    signatures: newSignatures.optional(),
    message: changeMessage,
    ...readOnly,
  })
  .check(divideImage)
  .check(refuseOldValues)
  .meta({ id: 'TemplateChange' });
