import type { z } from 'zod';
import { template } from './template.ts';
import { templateDefaults, templateFields } from './template-fields.ts';

/** The members of a template that say what runs: a workload has them, and a change of another one outdates nothing. */
export const workloadMembers = [
  'kind',
  'image_name',
  'image_tag',
  'registry_url',
  'registry_credentials',
  'command',
  'env',
  'env_schema',
  'secret_refs',
  'ports',
  'volume_mounts',
  'cpu_request',
  'memory_request',
  'gpu_count',
  'vram_request',
  'concurrent_jobs',
  'node_selector',
  'tolerations',
  'required_network_types',
] as const satisfies readonly (keyof typeof templateFields)[];

type Member = (typeof workloadMembers)[number];

const pick = <T extends object>(all: T): Pick<T, Member & keyof T> =>
  Object.fromEntries(workloadMembers.map((member) => [member, all[member as Member & keyof T]])) as Pick<
    T,
    Member & keyof T
  >;

/** Their rules, as a template has them. */
export const workloadFields = pick(templateFields);

/** What a workload has where nobody says anything. */
export const workloadDefaults = pick(templateDefaults);

const mask = Object.fromEntries(workloadMembers.map((member) => [member, true])) as Record<Member, true>;

/** What runs: image, command, environment, ports, volumes, resources, and where it may run. */
export const workloadSpec = template.pick(mask).meta({ id: 'WorkloadSpec' });
export type WorkloadSpec = z.output<typeof workloadSpec>;
