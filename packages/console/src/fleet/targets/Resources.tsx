import { t } from '../../shared/texts/texts.ts';
import { formatBytes, formatCount, formatCpus, parseQuantity } from '../../shared/ui/display/format.ts';
import { Meter } from '../../shared/ui/display/Meter.tsx';
import type { Cluster } from '../api.ts';

type Capacity = Cluster['allocated'];

/** CPU, memory and GPUs of a target: allocated, and free. */
export function Resources({
  total,
  allocated,
}: {
  readonly total: Capacity | null;
  readonly allocated: Capacity | null;
}) {
  if (!total) return <p className="muted">{t('The capacity is known after the first successful check.')}</p>;
  const used = (member: 'cpu' | 'memory') => (allocated ? parseQuantity(allocated[member]) : 0);
  const cpu = parseQuantity(total.cpu);
  const memory = parseQuantity(total.memory);
  return (
    <div className="stack">
      <Meter
        label={t('CPU')}
        used={used('cpu')}
        total={cpu}
        words={
          allocated
            ? t('{used} allocated, {free} free', { used: formatCpus(used('cpu')), free: formatCpus(cpu - used('cpu')) })
            : formatCpus(cpu)
        }
      />
      <Meter
        label={t('Memory')}
        used={used('memory')}
        total={memory}
        words={
          allocated
            ? t('{used} allocated, {free} free', {
                used: formatBytes(used('memory')),
                free: formatBytes(memory - used('memory')),
              })
            : formatBytes(memory)
        }
      />
      {total.gpu_count > 0 && (
        <Meter
          label={t('GPUs')}
          used={allocated?.gpu_count ?? 0}
          total={total.gpu_count}
          words={t('{used} allocated, {free} free', {
            used: formatCount(allocated?.gpu_count ?? 0),
            free: formatCount(total.gpu_count - (allocated?.gpu_count ?? 0)),
          })}
        />
      )}
    </div>
  );
}
