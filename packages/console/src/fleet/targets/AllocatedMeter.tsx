import { t } from '../../shared/texts/texts.ts';
import { formatBytes, formatCpus, formatDecimal, parseQuantity } from '../../shared/ui/display/format.ts';
import { Meter } from '../../shared/ui/display/Meter.tsx';
import type { Cluster } from '../api.ts';

type Capacity = Pick<Cluster['allocated'], 'cpu' | 'memory'>;

const formats = {
  cpu: { used: formatDecimal, total: formatCpus },
  memory: { used: formatBytes, total: formatBytes },
};

/**
 * How much of a resource of a target is allocated. Without an allocation, as of a node of a
 * cluster, it shows the capacity.
 */
export function AllocatedMeter({
  resource,
  label,
  allocated,
  total,
}: {
  readonly resource: keyof typeof formats;
  readonly label?: string;
  readonly allocated: Capacity | null;
  readonly total: Capacity | null;
}) {
  if (!total) return <span className="muted">–</span>;
  const whole = parseQuantity(total[resource]);
  const format = formats[resource];
  if (!allocated) return <span className="numeric">{format.total(whole)}</span>;
  const used = parseQuantity(allocated[resource]);
  const words = t('{used} of {total}', { used: format.used(used), total: format.total(whole) });
  return <Meter {...(label ? { label } : {})} used={used} total={whole} words={words} />;
}
