import { composedPieces } from '@svc/contract/composed';
import type { AddressForm, fleetEndpoints } from '@svc/contract/fleet';
import type { CallInput } from '../../shared/api/client.ts';
import { isSecretVariableText } from '../../shared/catalog/secret-variable.ts';
import { t } from '../../shared/texts/texts.ts';
import { formatList } from '../../shared/ui/display/format.ts';
import type { Deployment, Template } from '../api.ts';

export type EnvBody = NonNullable<NonNullable<CallInput<(typeof fleetEndpoints)['planDeployment']>['body']>['env']>;
type Variable = Template['env_schema'][number];

/** What a variable, or a part of a composed text, can refer to. */
export const referenceSources = ['secret', 'deployment', 'address'] as const;
export type ReferenceSource = (typeof referenceSources)[number];

/** Where the value of a variable comes from. `keep`: the value that the deployment already has. */
export type EnvSource = ReferenceSource | 'text' | 'generate' | 'composed' | 'keep';

/** The input of a user for one reference. */
export interface ReferenceDraft {
  readonly source: EnvSource;
  readonly secret: string;
  readonly key: string;
  readonly deployment: string;
  readonly variable: string;
  readonly port: string;
  readonly as: AddressForm;
}

/** The input of a user for one variable. */
export interface EnvDraft extends ReferenceDraft {
  readonly text: string;
  readonly length: string;
  /** The references of the placeholders in the text, by their names. */
  readonly parts: Readonly<Record<string, ReferenceDraft>>;
  readonly kept?: Deployment['env'][string];
}

export const emptyReference: ReferenceDraft = {
  source: 'text',
  secret: '',
  key: '',
  deployment: '',
  variable: '',
  port: '',
  as: 'host:port',
};

const emptyDraft: EnvDraft = { ...emptyReference, text: '', length: '32', parts: {} };

/** The names of the placeholders in a composed text, each once; undefined if it is not well-formed. */
export function placeholdersIn(text: string): readonly string[] | undefined {
  const pieces = composedPieces(text);
  return pieces && [...new Set(pieces.flatMap((piece) => (typeof piece === 'string' ? [] : piece.name)))];
}

/** Whether the value is that of a secret, or one that was generated, at least in part. */
export function isSecretDraft(draft: EnvDraft): boolean {
  if (draft.source !== 'composed') return draft.source !== 'text' && draft.source !== 'address';
  return placeholdersIn(draft.text)?.some((name) => partOf(draft, name).source !== 'address') ?? false;
}

/** The input for a placeholder: by default the value of another deployment. */
export const partOf = ({ parts }: EnvDraft, name: string): ReferenceDraft =>
  Object.hasOwn(parts, name) ? (parts[name] ?? emptyReference) : { ...emptyReference, source: 'deployment' };

/** A required secret is generated unless the user chooses something else. */
export function firstEnvDraft({ description, required }: Variable): EnvDraft {
  if (!isSecretVariableText(description)) return emptyDraft;
  return { ...emptyDraft, source: required ? 'generate' : 'secret' };
}

/** The draft for the present value of a deployment. */
export function draftOfValue(variable: Variable, value: Deployment['env'][string] | undefined): EnvDraft {
  if (value === undefined)
    return isSecretVariableText(variable.description) ? { ...emptyDraft, source: 'secret' } : emptyDraft;
  if (typeof value === 'string') return { ...emptyDraft, text: value };
  return { ...emptyDraft, source: 'keep', kept: value };
}

/** What a request contains for the variables: only those that the user has set. */
export function envBodyOf(variables: readonly Variable[], drafts: Readonly<Record<string, EnvDraft>>): EnvBody {
  return Object.fromEntries(
    variables.flatMap((variable) => {
      const value = bodyOfDraft(variable, drafts[variable.name] ?? emptyDraft);
      return value === undefined ? [] : [[variable.name, value] as const];
    }),
  );
}

function bodyOfDraft({ description }: Variable, draft: EnvDraft): EnvBody[string] | undefined {
  switch (draft.source) {
    case 'text':
      if (draft.text === '') return undefined;
      return isSecretVariableText(description) ? { value: draft.text, plain: true } : draft.text;
    case 'generate':
      return { generate: Number(draft.length) };
    case 'composed':
      return draft.text === '' ? undefined : compositionOf(draft);
    case 'keep':
      return draft.kept;
    default:
      return referenceOf(draft);
  }
}

const compositionOf = (draft: EnvDraft) => ({
  compose: draft.text,
  with: Object.fromEntries(
    (placeholdersIn(draft.text) ?? []).flatMap((name) => {
      const reference = referenceOf(partOf(draft, name));
      return reference === undefined ? [] : [[name, reference] as const];
    }),
  ),
});

/** What a request contains for a reference; undefined while nothing is chosen. */
function referenceOf({ source, secret, key, deployment, variable, port, as }: ReferenceDraft) {
  if (source === 'secret') return secret === '' ? undefined : { secret, ...(key === '' ? {} : { key }) };
  if (deployment === '') return undefined;
  return source === 'address' ? { deployment, port: Number(port), as } : { deployment, variable };
}

/** The value of a variable in words. Secret values are not known to the console. */
export function wordsOfValue(value: Deployment['env'][string]): string {
  if (typeof value === 'string') return value;
  if ('secret' in value) {
    const { secret, key } = value;
    return key ? t('secret {secret}, key {key}', { secret, key }) : t('secret {secret}', { secret });
  }
  if ('generate' in value)
    return t('generated, {count, plural, one {# character} other {# characters}}', { count: value.generate });
  if ('variable' in value)
    return t('{variable} of deployment {deployment}', { variable: value.variable, deployment: value.deployment });
  if ('port' in value)
    return t('address of port {port} of deployment {deployment}', {
      port: String(value.port),
      deployment: value.deployment,
    });
  if ('compose' in value) {
    const parts = Object.entries(value.with).map(([name, part]) =>
      t('{name}: {value}', { name, value: wordsOfValue(part) }),
    );
    return parts.length === 0
      ? value.compose
      : t('{text} with {parts}', { text: value.compose, parts: formatList(parts) });
  }
  if ('plain' in value) return value.value;
  return t('sealed');
}
