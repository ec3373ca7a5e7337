import type { Template } from '@svc/contract';
import { isSecretVariableText } from '../../shared/catalog/secret-variable.ts';

/** The length of the values that the fleet generates. */
const GENERATED_LENGTH = 32;
const MAX_NAME = 63;

/** A variable of the shell that must be set before the command runs. */
interface ShellVariable {
  readonly name: string;
  /** What the template says about it. */
  readonly description: string;
}

export interface DeployCommand {
  /** The command for a POSIX shell. It also needs `FLEET_URL` and `FLEET_TOKEN`. */
  readonly text: string;
  /** The required variables of the template that are not secret. */
  readonly variables: readonly ShellVariable[];
  /** The variables of the template whose values the fleet generates. */
  readonly generated: readonly string[];
  /** The secrets that the fleet must have before. */
  readonly secrets: readonly { readonly name: string; readonly key?: string | undefined }[];
}

/**
 * The command that deploys a template in a fleet with curl. Secret variables are generated, and the
 * values of other required variables are those of shell variables.
 */
export function deployCommandOf({
  slug,
  env_schema,
  secret_refs,
}: Pick<Template, 'slug' | 'env_schema' | 'secret_refs'>): DeployCommand {
  const required = env_schema.filter((variable) => variable.required && variable.default_value === '');
  const isSecret = ({ description }: Template['env_schema'][number]) => isSecretVariableText(description);
  const generated = required.filter(isSecret).map(({ name }) => name);
  const entered = required.filter((variable) => !isSecret(variable));
  const shellNames = shellNamesOf(entered.map(({ name }) => name));
  const values: readonly (readonly Part[])[] = [
    ...generated.map((name) => [json(`${JSON.stringify(name)}: {"generate": ${GENERATED_LENGTH}}`)]),
    ...entered.map(({ name }, index) => [
      json(`${JSON.stringify(name)}: "`),
      contentOf(shellNames[index] ?? ''),
      json('"'),
    ]),
  ];
  const name = withoutFinalHyphens(slug.slice(0, MAX_NAME));
  const body: readonly Part[] = [
    json(`{"name": ${JSON.stringify(name)}, "template": ${JSON.stringify(slug)}`),
    ...values.flatMap((value, index) => [json(index === 0 ? ', "env": {' : ', '), ...value]),
    json(values.length === 0 ? '}' : '}}'),
  ];
  const lines = [
    'curl -X POST "$FLEET_URL/api/v1/deployments"',
    '  -H "Authorization: Bearer $FLEET_TOKEN"',
    "  -H 'Content-Type: application/json'",
    `  -d ${wordOf(body)}`,
  ];
  return {
    text: lines.join(' \\\n'),
    variables: entered.map(({ description }, index) => ({ name: shellNames[index] ?? '', description })),
    generated,
    secrets: secret_refs,
  };
}

/** A part of a word of the shell: as it is, or for the shell to replace. */
interface Part {
  readonly content: string;
  readonly isReplaced: boolean;
}

const json = (content: string): Part => ({ content, isReplaced: false });

/**
 * The value of a shell variable as the content of a string in JSON, on one line. If it is not set,
 * the shell says so, and the fleet refuses the empty value.
 */
const contentOf = (name: string): Part => ({
  content: `"$(printf %s "\${${name}:?}" | sed 's/["\\\\]/\\\\&/g')"`,
  isReplaced: true,
});

/**
 * Different names for the shell. They have a prefix, because a template can require a variable such
 * as `PATH` or `USER`, which each shell has.
 */
function shellNamesOf(names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const base = `VALUE_${name.replace(/[^A-Za-z0-9_]/g, '_')}`;
    const unique = taken.has(base) ? `${base}_${taken.size + 1}` : base;
    taken.add(unique);
    return unique;
  });
}

/** One word of a POSIX shell. */
function wordOf(parts: readonly Part[]): string {
  const words: string[] = [];
  let plain = '';
  for (const { content, isReplaced } of parts) {
    if (isReplaced) {
      words.push(quoted(plain), content);
      plain = '';
    } else plain += content;
  }
  return [...words, quoted(plain)].join('');
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const withoutFinalHyphens = (name: string): string =>
  name.endsWith('-') ? withoutFinalHyphens(name.slice(0, -1)) : name;
