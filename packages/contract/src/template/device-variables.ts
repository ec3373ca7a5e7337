import type { FieldError } from '../shared/field-errors.ts';

/**
 * Variables by which the runtime of a vendor gives devices to a container, whatever the container
 * requests. Variables that only a program reads, such as `CUDA_VISIBLE_DEVICES`,
 * `ROCR_VISIBLE_DEVICES` and `NVIDIA_DRIVER_CAPABILITIES`, select among the given devices and are
 * not listed.
 */
const DEVICE_VARIABLES: ReadonlySet<string> = new Set([
  'NVIDIA_VISIBLE_DEVICES',
  'NVIDIA_MIG_CONFIG_DEVICES',
  'NVIDIA_MIG_MONITOR_DEVICES',
  'NVIDIA_IMEX_CHANNELS',
  'NVIDIA_GDRCOPY',
  'NVIDIA_GDS',
  'NVIDIA_MOFED',
  'NVIDIA_NVSWITCH',
  'AMD_VISIBLE_DEVICES',
  'ASCEND_VISIBLE_DEVICES',
  'CAMBRICON_VISIBLE_DEVICES',
  'HABANA_VISIBLE_DEVICES',
  'MTHREADS_VISIBLE_DEVICES',
]);

/** The prefix of the variables by which Docker passes generic resources to these runtimes. */
const DOCKER_RESOURCE = 'DOCKER_RESOURCE_';

/** Whether an engine can give devices to a container because it has a variable with this name. */
export const grantsDevices = (name: string): boolean => DEVICE_VARIABLES.has(name) || name.startsWith(DOCKER_RESOURCE);

export const GRANTS_DEVICES =
  'must not be set, because engines give devices to a container by this variable: remove it, and request GPUs instead';

/** The members of a template or workload in which variables are declared. */
export interface Declarations {
  readonly env?: readonly { readonly name: string }[] | undefined;
  readonly env_schema?: readonly { readonly name: string }[] | undefined;
  readonly secret_refs?: readonly { readonly env: string }[] | undefined;
}

/** The declared variables that give devices to a container. */
export const deviceVariableErrors = ({ env = [], env_schema = [], secret_refs = [] }: Declarations): FieldError[] =>
  [
    ...env.map(({ name }, index) => ({ name, path: `env.${index}.name` })),
    ...env_schema.map(({ name }, index) => ({ name, path: `env_schema.${index}.name` })),
    ...secret_refs.map(({ env: name }, index) => ({ name, path: `secret_refs.${index}.env` })),
  ].flatMap(({ name, path }) => (grantsDevices(name) ? [{ path, message: `${name} ${GRANTS_DEVICES}` }] : []));
