import { useQuery } from '@tanstack/react-query';
import { wordsOf } from '../../shared/api/problem.ts';
import { t } from '../../shared/texts/texts.ts';
import { formatBytes, formatCpus } from '../../shared/ui/display/format.ts';
import { type Deployment, type FleetOutput, fleet } from '../api.ts';

/** Milliseconds between two readings while the page is visible. */
const REFRESH_MS = 5000;

type InstanceUsage = FleetOutput<'getDeploymentUsage'>['usage']['instances'][number];

/** What the instances of a deployment use now, read from the engine while the page is open. */
export function useUsage({ id, instances, desired_state }: Deployment) {
  const { data, error } = useQuery({
    ...fleet.read('getDeploymentUsage', { params: { id } }),
    enabled: instances.length > 0 && desired_state === 'running',
    refetchInterval: REFRESH_MS,
    retry: false,
    gcTime: 0,
  });
  const usage = error ? undefined : data?.usage;
  return {
    usageOf: (name: string) => usage?.instances.find((instance) => instance.name === name),
    /** Why values are missing. */
    note: error ? wordsOf(error).detail : noteOf(usage),
  };
}

function noteOf(usage: FleetOutput<'getDeploymentUsage'>['usage'] | undefined): string | undefined {
  if (!usage) return undefined;
  if (usage.note !== null) return usage.note;
  return usage.omitted > 0
    ? t('The usage of {count, plural, one {# more instance} other {# more instances}} is not read.', {
        count: usage.omitted,
      })
    : undefined;
}

export const cpusOf = (usage: InstanceUsage | undefined): string =>
  usage?.cpus === null || usage === undefined ? '–' : formatCpus(usage.cpus);

export function memoryOf(usage: InstanceUsage | undefined): string {
  if (usage === undefined || usage.memory_bytes === null) return '–';
  const used = formatBytes(usage.memory_bytes);
  return usage.memory_limit_bytes === null
    ? used
    : t('{used} of {limit}', { used, limit: formatBytes(usage.memory_limit_bytes) });
}
