import type { Machine, Taint } from './candidates.ts';
import type { Needs, Toleration } from './demand.ts';

/** Kubernetes' rule; a toleration without a key must be `Exists` and then tolerates every key. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator = 'Equal', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === '' || key === taint.key;
  return key === taint.key && value === (taint.value ?? '');
}

const untolerated = (machine: Machine, { tolerations }: Needs): Taint[] =>
  machine.taints.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));

/** Taints that keep everything away that doesn't tolerate them, `NoExecute` as `NoSchedule`. */
export const refusingTaints = (machine: Machine, needs: Needs): Taint[] =>
  untolerated(machine, needs).filter(({ effect }) => effect !== 'PreferNoSchedule');

/** Taints that only ask to go elsewhere. */
export const avoidedTaints = (machine: Machine, needs: Needs): Taint[] =>
  untolerated(machine, needs).filter(({ effect }) => effect === 'PreferNoSchedule');

/** As kubectl writes it: `gpu=true:NoSchedule`. */
export const taintText = ({ key, value, effect }: Taint): string => `${key}${value ? `=${value}` : ''}:${effect}`;

/** A label that the selector asks for; `is` is what the machine has instead. */
export interface UnmetLabel {
  readonly key: string;
  readonly wanted: string;
  readonly is: string | undefined;
}

/** The labels of the node selector that a machine lacks or has with another value. */
export const unmetLabels = ({ labels }: Machine, { node_selector }: Needs): UnmetLabel[] =>
  Object.entries(node_selector)
    .map(([key, wanted]) => ({ key, wanted, is: Object.hasOwn(labels, key) ? labels[key] : undefined }))
    .filter(({ wanted, is }) => is !== wanted);

const labelReason = ({ key, wanted, is }: UnmetLabel): string =>
  is === undefined
    ? `has no label ${key}, "${wanted}" is asked for`
    : `label ${key} is "${is}", "${wanted}" is asked for`;

/** Why a single machine does not take what has these needs, whatever its size. */
export const admissionReasons = (machine: Machine, needs: Needs): string[] => [
  ...(machine.schedulable ? [] : ['is closed to new deployments (schedulable is false)']),
  ...unmetLabels(machine, needs).map(labelReason),
  ...refusingTaints(machine, needs).map((taint) => `taint ${taintText(taint)} is not tolerated`),
];
