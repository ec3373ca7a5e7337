import { templateMeanings } from '../template/fields.ts';
import { replaceTables } from './page-tables.ts';

/** The members of a JSON schema that the tables show. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

const LABEL = '(at most 63 lower-case letters, digits and inner hyphens)';

/**
 * What each member means. Members of the objects in a list have the name of the list before theirs.
 * The declarations of the members that a publisher writes state theirs.
 */
const meanings: Readonly<Record<string, string>> = {
  name: 'the name for people; searched',
  slug: 'the key in URLs, unique in the hub: at most 64 lower-case letters, digits and inner hyphens, and not `updates`. By default, it derives from the name. In catalog files it is required, and the name of the file',
  category_id:
    'the category, which determines with `is_public` who sees the template. In catalog files: `category`, its slug',
  'env.name': 'the name of the variable: letters, digits and `_ . -`, not a digit first',
  'env.value': 'its value',
  'env_schema.name': 'the name of the variable, as in `env`',
  'env_schema.required': 'whether a deployment needs a value that is not empty',
  'env_schema.default_value': 'the value if the deployment sets none; must be empty for a secret variable',
  'env_schema.description':
    'what the variable does, for people. If it ends with `[secret]`, the variable is [secret](#secrets); with `[internal] [secret]`, also internal',
  'secret_refs.name': `the name of the secret ${LABEL}`,
  'secret_refs.key': 'the key in the secret; without it, the key with the name of the variable, or the only key',
  'secret_refs.env': 'the variable that receives the value',
  'ports.containerPort': 'the port in the container. The fleet allocates a port of the host',
  'ports.protocol': '`TCP`, `UDP` or `SCTP`, in any case',
  'ports.host_port':
    'the port of the host that the author proposes. It opens nothing: the operator decides, and an admin opens [ports of the host](deployments.md#ports-of-the-host)',
  'volume_mounts.name': `the name of the mount ${LABEL}`,
  'volume_mounts.mountPath': 'an absolute path without a comma, a colon or a quotation mark',
  'volume_mounts.read_only': 'whether the program can only read the volume; without it, it can also write',
  'tmpfs.path':
    'an absolute path in normal form, without a comma, a colon or a quotation mark, and not in `/dev`, `/proc` or `/sys`',
  'tmpfs.size': 'the most that it contains, such as `64Mi` or `1Gi`',
  'files.path': 'an absolute path as in `tmpfs`, which is in no volume and no temporary directory',
  'files.content': 'the text of the file, at most 64 KiB in UTF-8',
  'files.mode': '`0444`: everybody can read it; `0555`: everybody can also run it. The owner is root',
  'tolerations.key': 'the key of the taint; without it, with `Exists`, all taints',
  'tolerations.operator': '`Exists`: any value; `Equal`: the same value',
  'tolerations.value': 'the value of the taint',
  'tolerations.effect': 'the effect of the taint; without it, all effects',
  'tolerations.tolerationSeconds': 'for how long a pod stays on a node with the taint; only on clusters',
  owner_org_id:
    'the organization that owns the template, shown only to administrators. In catalog files: `owner`, its slug',
  signatures:
    'statements of publishers about the content, as the command [`sign`](trust.md#publish) writes them; at most eight. In catalog files: `signatures.json`',
  id: 'the identity of the template, which never changes. The slug can change',
  category_name: 'the name of the category',
  category_slug: 'the slug of the category',
  category_icon: 'the icon of the category',
  download_count:
    'how many requests with an API key got the template by its slug. A fleet sends one when it first deploys the template',
  revision: 'the number of the newest revision of the content. It increases with each change of the content, with gaps',
  status: '`active`, `deprecated` (it works, and should no longer be used) or `blocked` (it must not be deployed)',
  status_message: 'the reason for the status, as plain text',
  replacement: 'the slug of the template to use instead, which the caller may not see; `null`: none',
  advisories:
    'messages about a range of revisions: `id`, `severity` (`note`, `warning` or `critical`), `message`, `url`, `first_revision` and `last_revision` (`null`: also all later ones)',
  created_at: 'the time of the creation',
  updated_at: 'the time of the catalog at the last change. A download is not a change',
  ...templateMeanings,
};

/**
 * The tables of docs/templates.md: the members that publishers set, those of their objects, and
 * those that the hub sets.
 */
export function withTemplateTables(page: string, document: object): string {
  const at = (reference: string): object =>
    reference
      .split('/')
      .slice(1)
      // The generator creates only references to members that exist.
      .reduce((value, key) => (value as Record<string, object>)[key] as object, document);
  const resolve = (schema: Schema): Schema => (schema.$ref === undefined ? schema : at(schema.$ref));
  // The document of the hub has this body.
  const { content } = at('#/components/requestBodies/CreateTemplate') as {
    content: { 'application/json': { schema: Schema } };
  };
  const body = resolve(content['application/json'].schema);
  // The message is about the change, and no member of the template.
  const published = Object.entries(body.properties ?? {}).filter(([name]) => name !== 'message');
  const shown = Object.entries(resolve({ $ref: '#/components/schemas/Template' }).properties ?? {});
  const objects = published.flatMap(([list, { items = {} }]) => {
    const { properties = {}, required = [] } = resolve(items);
    return Object.entries(properties).map(([name, schema]) => ({ path: `${list}.${name}`, schema, required, name }));
  });
  const isRequired = (name: string, required: readonly string[] = []) => required.includes(name);
  const defaultOf = (schema: Schema, required: boolean) => {
    if (required) return 'required';
    return schema.default === undefined ? '' : code(schema.default);
  };
  return replaceTables('docs/templates.md', page, {
    members: [
      '| member | type | limits | default | example | meaning |',
      '|---|---|---|---|---|---|',
      ...published.map(([name, schema]) => {
        const [example] = schema.examples ?? [];
        const defaultValue = defaultOf(schema, isRequired(name, body.required));
        return row(name, typeOf(schema), limitsOf(schema), defaultValue, example === undefined ? '' : code(example));
      }),
    ],
    objects: [
      '| member | type | limits | default | meaning |',
      '|---|---|---|---|---|',
      ...objects.map(({ path, schema, required, name }) =>
        row(path, typeOf(schema), limitsOf(schema), defaultOf(schema, isRequired(name, required))),
      ),
    ],
    'read-only members': [
      '| member | type | meaning |',
      '|---|---|---|',
      ...shown
        .filter(([name]) => !(name in (body.properties ?? {})))
        .map(([name, schema]) => row(name, typeOf(schema))),
    ],
  });
}

/** A row of a member. @throws if the member has no meaning */
function row(path: string, ...cells: readonly string[]): string {
  const meaning = meanings[path];
  if (meaning === undefined) throw new Error(`the member ${path} has no meaning`);
  return `| \`${path}\` | ${[...cells, meaning].join(' | ')} |`;
}

const code = (value: unknown) => `\`${JSON.stringify(value)}\``;

function typeOf({ type, format, anyOf, items, enum: values }: Schema): string {
  if (anyOf) return anyOf.map(typeOf).join(' or ');
  if (Array.isArray(type)) return type.map((each) => typeOf({ type: each })).join(' or ');
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (type === 'array') return items?.type === 'string' ? 'list of text' : 'list of objects';
  if (type === 'object') return 'map of text to text';
  if (type === 'string') return format === undefined ? 'text' : format === 'uuid' ? 'UUID' : 'timestamp';
  return type === 'null' ? '`null`' : `${type}`;
}

function limitsOf({ anyOf, minimum, maximum, maxLength, maxItems, maxProperties, items }: Schema): string {
  if (anyOf) return anyOf.map(limitsOf).join('');
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `at least ${minimum}`;
  const most = maxItems ?? maxProperties;
  if (most !== undefined) return `${most} entries${items?.maxLength ? `, each ${items.maxLength} characters` : ''}`;
  return maxLength === undefined ? '' : `${maxLength} characters`;
}
