import type { fleetEndpoints } from '@svc/contract/fleet';
import type { Application } from '@svc/convert';
import type { CallInput } from '../../../shared/api/client.ts';
import { wordsOf } from '../../../shared/ui/controls/pairs.ts';
import { webSchemeOf } from '../../deployments/endpoints/client-command.ts';
import { emptyReference, type ReferenceDraft } from '../../deployments/env-draft.ts';
import {
  applicationPolicyChanges,
  NEW_POLICY,
  type PolicyDraft,
  policyDraftOf,
} from '../../deployments/updates/policy/policy-draft.ts';
import { targetOf } from '../../deployments/useTargets.ts';
import { type VolumeDraft, volumesBodyOf } from '../../deployments/VolumeField.tsx';
import { type ConvertedSpec, decidedSpec, type FormInput, overridesFor, webPortsOf } from './application-spec.ts';

type CreationBody = NonNullable<CallInput<(typeof fleetEndpoints)['createApplication']>['body']>;

/** What plans and creations of an application have in common. */
export type ApplicationBody = Pick<
  CreationBody,
  'name' | 'application' | 'spec' | 'inputs' | 'volumes' | 'overrides' | 'target' | 'acknowledge'
>;

/** What a creation has in addition: nothing of it changes the plan. */
export type NewApplication = ApplicationBody & Pick<CreationBody, 'updates' | 'on_failure'>;

/** What a form deploys: an application of a file, or the one of the catalog with the slug. */
export interface Deployable {
  readonly application: FormApplication;
  readonly slug?: string;
}

/** An application as the form shows it. */
export type FormApplication = ConvertedSpec & Pick<Application, 'name' | 'slug'>;

/** The input of a person for a new application. */
export interface ApplicationDraft {
  readonly name: string;
  readonly target: string;
  /** The network types from which the published ports are reachable, separated by spaces. */
  readonly networks: string;
  /** The texts and choices by the names of inputs. Empty: the default. */
  readonly texts: Readonly<Record<string, string>>;
  /** Where the secret inputs have their values from, by the names of inputs. */
  readonly secrets: Readonly<Record<string, ReferenceDraft>>;
  /** By the names of mounts, such as `database/data`. */
  readonly volumes: Readonly<Record<string, VolumeDraft>>;
  /** The keys of the published ports that serve web pages. */
  readonly webPorts: readonly string[];
  /** The ids of the advisories that the person has acknowledged. */
  readonly acknowledged: readonly string[];
  readonly policy: PolicyDraft;
}

/**
 * A required secret is generated unless the person chooses something else. What an application of the catalog generates is
 * fixed.
 */
export const firstSecret = ({ required }: FormInput, { slug }: Pick<Deployable, 'slug'>): ReferenceDraft => ({
  ...emptyReference,
  source: required && slug === undefined ? 'generate' : 'secret',
});

export const firstDraft = ({ application, slug }: Deployable, name: string): ApplicationDraft => ({
  name,
  target: '',
  networks: '',
  texts: {},
  secrets: Object.fromEntries(
    application.inputs
      .filter(({ type }) => type === 'secret')
      .map((input) => [input.name, firstSecret(input, { ...(slug !== undefined && { slug }) })]),
  ),
  volumes: {},
  acknowledged: [],
  policy: policyDraftOf(NEW_POLICY),
  webPorts: webPortsOf(application)
    .filter(({ port }) => webSchemeOf(port) !== undefined)
    .map(({ key }) => key),
});

/** The request that creates what a draft describes. The service validates it. */
export const creationOf = (deployable: Deployable, draft: ApplicationDraft): NewApplication => ({
  ...bodyOf(deployable, draft),
  ...applicationPolicyChanges(NEW_POLICY, draft.policy),
});

/** The request that plans it. */
export function bodyOf(deployable: Deployable, draft: ApplicationDraft): ApplicationBody {
  const { name, target, volumes, acknowledged } = draft;
  return {
    name,
    ...whatRuns(deployable, draft),
    inputs: inputsOf(deployable.application, draft),
    volumes: volumesBodyOf(volumes),
    target: targetOf(target),
    acknowledge: [...acknowledged],
  };
}

/** The specification of a file with what the person has decided, or an application of the catalog with it as overrides. */
function whatRuns(
  { application, slug }: Deployable,
  { networks, secrets, webPorts }: ApplicationDraft,
): Pick<ApplicationBody, 'application' | 'spec' | 'overrides'> {
  const decided = { networks: wordsOf(networks), webPorts: new Set(webPorts) };
  if (slug !== undefined) return { application: slug, overrides: overridesFor(application, decided) };
  const generated = Object.entries(secrets).filter(([, { source }]) => source === 'generate');
  const spec = decidedSpec(application, { ...decided, generated: new Set(generated.map(([input]) => input)) });
  // The tests of the conversion compare its applications with this schema. Their lists are read-only.
  return { spec: spec as unknown as CreationBody['spec'] };
}

function inputsOf({ inputs }: FormApplication, { texts, secrets }: ApplicationDraft): CreationBody['inputs'] {
  return Object.fromEntries(
    inputs.flatMap(({ name, type }) => {
      const text = texts[name] ?? '';
      const value = text === '' ? referenceOf(secrets[name]) : typedValue(type, text);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** The value of an input that is not secret. The service refuses text that is not of its type. */
function typedValue(type: FormInput['type'], text: string): string | number | boolean {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  const number = Number(text);
  return type === 'number' && Number.isFinite(number) ? number : text;
}

/** The value of a secret input; undefined if nothing is chosen, or the value is generated. */
function referenceOf({ source, secret, key, deployment, variable } = emptyReference) {
  if (source === 'secret' && secret !== '') return { secret, ...(key !== '' && { key }) };
  if (source === 'deployment' && deployment !== '') return { deployment, variable };
  return undefined;
}
