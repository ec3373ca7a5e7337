import type { fleetEndpoints } from '@svc/contract/fleet';
import type { CallInput } from '../../shared/api/client.ts';
import { isSecretVariableText } from '../../shared/catalog/secret-variable.ts';
import { t } from '../../shared/texts/texts.ts';
import type { Deployment, Template } from '../api.ts';

export type EnvBody = NonNullable<NonNullable<CallInput<(typeof fleetEndpoints)['planDeployment']>['body']>['env']>;
type Variable = Template['env_schema'][number];

/** Where the value of a variable comes from. `keep`: the value that the deployment already has. */
export type EnvSource = 'text' | 'secret' | 'generate' | 'deployment' | 'keep';

/** The input of a user for one variable. */
export interface EnvDraft {
  readonly source: EnvSource;
  readonly text: string;
  readonly secret: string;
  readonly key: string;
  readonly length: string;
  readonly deployment: string;
  readonly variable: string;
  readonly kept?: Deployment['env'][string];
}

const emptyDraft: EnvDraft = {
  source: 'text',
  text: '',
  secret: '',
  key: '',
  length: '32',
  deployment: '',
  variable: '',
};

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
    case 'secret':
      if (draft.secret === '') return undefined;
      return { secret: draft.secret, ...(draft.key === '' ? {} : { key: draft.key }) };
    case 'generate':
      return { generate: Number(draft.length) };
    case 'deployment':
      if (draft.deployment === '') return undefined;
      return { deployment: draft.deployment, variable: draft.variable };
    case 'keep':
      return draft.kept;
  }
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
  if ('deployment' in value)
    return t('{variable} of deployment {deployment}', { variable: value.variable, deployment: value.deployment });
  if ('plain' in value) return value.value;
  return t('sealed');
}
