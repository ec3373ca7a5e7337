import type { fleetEndpoints } from '@svc/contract/fleet';
import type { Application, ApplicationInput } from '@svc/convert';
import type { CallInput } from '../../../shared/api/client.ts';
import { wordsOf } from '../../../shared/ui/controls/pairs.ts';
import { webSchemeOf } from '../../deployments/endpoints/client-command.ts';
import { emptyReference, type ReferenceDraft } from '../../deployments/env-draft.ts';
import { targetOf } from '../../deployments/useTargets.ts';
import { type VolumeDraft, volumesBodyOf } from '../../deployments/VolumeField.tsx';
import { decidedSpec, webPortsOf } from './application-spec.ts';

type CreationBody = NonNullable<CallInput<(typeof fleetEndpoints)['createApplication']>['body']>;

/** What plans and creations of an application have in common. */
export type ApplicationBody = Pick<CreationBody, 'name' | 'spec' | 'inputs' | 'volumes' | 'target'>;

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
}

/** A required secret is generated unless the person chooses something else. */
export const firstSecret = ({ required }: ApplicationInput): ReferenceDraft => ({
  ...emptyReference,
  source: required ? 'generate' : 'secret',
});

export const firstDraft = (application: Application, name: string): ApplicationDraft => ({
  name,
  target: '',
  networks: '',
  texts: {},
  secrets: Object.fromEntries(
    application.inputs.filter(({ type }) => type === 'secret').map((input) => [input.name, firstSecret(input)]),
  ),
  volumes: {},
  webPorts: webPortsOf(application)
    .filter(({ port }) => webSchemeOf(port) !== undefined)
    .map(({ key }) => key),
});

/** The request for a draft. The service validates it. */
export function bodyOf(application: Application, draft: ApplicationDraft): ApplicationBody {
  const { name, target, networks, secrets, volumes, webPorts } = draft;
  const generated = Object.entries(secrets).filter(([, { source }]) => source === 'generate');
  const spec = decidedSpec(application, {
    generated: new Set(generated.map(([input]) => input)),
    networks: wordsOf(networks),
    webPorts: new Set(webPorts),
  });
  return {
    name,
    // The tests of the conversion compare its applications with this schema. Their lists are read-only.
    spec: spec as unknown as CreationBody['spec'],
    inputs: inputsOf(application, draft),
    volumes: volumesBodyOf(volumes),
    target: targetOf(target),
  };
}

function inputsOf({ inputs }: Application, { texts, secrets }: ApplicationDraft): CreationBody['inputs'] {
  return Object.fromEntries(
    inputs.flatMap(({ name }) => {
      const value = texts[name] || referenceOf(secrets[name]);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** The value of a secret input; undefined if nothing is chosen, or the value is generated. */
function referenceOf({ source, secret, key, deployment, variable } = emptyReference) {
  if (source === 'secret' && secret !== '') return { secret, ...(key !== '' && { key }) };
  if (source === 'deployment' && deployment !== '') return { deployment, variable };
  return undefined;
}
