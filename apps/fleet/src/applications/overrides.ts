import {
  type ApplicationSpec,
  deviceVariableErrors,
  type FieldError,
  registryInName,
  withoutOldDigest,
} from '@svc/contract';
import { MAX_OVERRIDES_BYTES, type Overrides, overridesReply, type WorkloadSpec } from '@svc/contract/fleet';
import { pickDefined } from '@svc/http';
import { boundValueErrors } from '../deployments/env.ts';
import type { StoredEnv } from '../render/env.ts';
import { specMembersOf } from '../resources/workloads.ts';

type PartOverrides = Overrides[string];

/** What is given for the parts of a specification, also by their earlier names. */
export const ofParts = <T>({ parts }: ApplicationSpec, given: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(
    parts.flatMap(({ name, was }) => {
      const from = Object.hasOwn(given, name) ? name : was;
      const found = from !== null && Object.hasOwn(given, from) ? given[from] : undefined;
      return found === undefined ? [] : [[name, found] as const];
    }),
  );

/** The overrides that a change leads to: those of a part are replaced as a whole, and nothing is left of empty ones. */
export const overridesAfter = (spec: ApplicationSpec, before: Overrides, given: Overrides = {}): Overrides =>
  overridesReply.parse(
    Object.fromEntries(
      Object.entries({ ...ofParts(spec, before), ...given }).filter(([, each]) => Object.keys(each).length > 0),
    ),
  );

const partOverrides = (overrides: Overrides, part: string): PartOverrides | undefined =>
  Object.hasOwn(overrides, part) ? overrides[part] : undefined;

/** What overrides set for a part, such as `image_tag`, `env.TZ` and `host_ports.53/udp`. */
export function overriddenMembers(overrides: Overrides, part: string): string[] {
  const { env = {}, host_ports = {}, ...members } = partOverrides(overrides, part) ?? {};
  return [
    ...Object.keys(specMembersOf(members)),
    ...Object.keys(env).map((name) => `env.${name}`),
    ...Object.keys(host_ports).map((port) => `host_ports.${port}`),
  ];
}

/** What is wrong with overrides as a whole. */
export function overrideProblems({ parts }: ApplicationSpec, overrides: Overrides): FieldError[] {
  const names = parts.map(({ name }) => name);
  const unknown = Object.keys(overrides)
    .filter((name) => !names.includes(name))
    .map((name) => ({
      path: `overrides.${name}`,
      message: `is not a part of the application, which has ${names.join(', ')}`,
    }));
  const bytes = Buffer.byteLength(JSON.stringify(overrides));
  if (bytes <= MAX_OVERRIDES_BYTES) return unknown;
  const message = `must have at most ${MAX_OVERRIDES_BYTES} bytes together, also with those that do not change, and have ${bytes}`;
  return [...unknown, { path: 'overrides', message }];
}

/** A part as it is compiled from the specification. */
interface Specified {
  readonly spec: Partial<WorkloadSpec>;
  readonly env: StoredEnv;
  /** The names of its secret variables. */
  readonly secretNames: readonly string[];
}

interface Overridden extends Pick<Specified, 'spec' | 'env'> {
  /** Undefined: none are set. */
  readonly hostPorts: Readonly<Record<string, number>> | undefined;
  readonly problems: readonly FieldError[];
}

/** What a part runs with what is set for it. */
export function applyOverrides(overrides: Overrides, part: string, { spec, env, secretNames }: Specified): Overridden {
  const { env: given = {}, host_ports: hostPorts, ...members } = partOverrides(overrides, part) ?? {};
  const { env: fixed = [], image_name, image_tag, registry_url = null } = spec;
  const set = withoutOldDigest(specMembersOf(members), { image_name, image_tag, registry_url });
  const image = {
    image_name: '',
    registry_url: null,
    ...pickDefined({ ...spec, ...set }, ['image_name', 'registry_url']),
  };
  const problems = [
    ...boundValueErrors(given, secretNames).map(({ path, message }) => ({ path: `env.${path}`, message })),
    ...(set.image_name === undefined && set.registry_url === undefined ? [] : registryInName(image)),
    ...deviceVariableErrors({ secret_refs: set.secret_refs }),
  ];
  return {
    spec: { ...spec, ...set, env: fixed.filter((variable) => !Object.hasOwn(given, variable.name)) },
    env: { ...env, ...given },
    hostPorts,
    problems: problems.map(({ path, message }) => ({ path: `overrides.${part}.${path}`, message })),
  };
}
