import { t } from '../../../shared/texts/texts.ts';
import { SelectField, TextField } from '../../../shared/ui/controls/Field.tsx';
import type { ScalingDraft } from './scaling-draft.ts';

interface Props {
  readonly draft: ScalingDraft;
  readonly errorAt: (path: string) => string | undefined;
  readonly onChange: (draft: ScalingDraft) => void;
}

/** Who sets the number of replicas, and the bounds of an autoscaler. Only clusters permit another than the fleet. */
export function ScalingFields({ draft, errorAt, onChange }: Props) {
  const { mode, min, max, cpu } = draft;
  const errorOfBounds = ['min_replicas', 'max_replicas', 'cpu_percent']
    .map((member) => errorAt(`autoscaling.${member}`))
    .find((message) => message !== undefined);
  return (
    <>
      <SelectField
        name={mode === 'cluster' ? 'scaled_by' : 'autoscaling'}
        label={t('Number of replicas while it runs')}
        hint={
          mode === 'cluster'
            ? t(
                'The fleet sets the replicas only at the start. kubectl scale and autoscalers of the cluster change them.',
              )
            : undefined
        }
        value={mode}
        onChange={(value) => onChange({ ...draft, mode: value })}
        options={[
          { value: 'fleet', label: t('Fixed') },
          { value: 'autoscaling', label: t('Autoscaling (only clusters)') },
          { value: 'cluster', label: t('Set by programs of the cluster') },
        ]}
        error={errorAt('scaled_by') ?? (errorOfBounds === undefined ? errorAt('autoscaling') : undefined)}
      />
      {mode === 'autoscaling' && (
        <>
          <TextField
            name="autoscaling.min_replicas"
            label={t('At least')}
            type="number"
            min={1}
            max={1000}
            value={min}
            onChange={(value) => onChange({ ...draft, min: value })}
            error={errorAt('autoscaling.min_replicas')}
          />
          <TextField
            name="autoscaling.max_replicas"
            label={t('At most')}
            hint={t('The plan counts the resources of this number.')}
            type="number"
            min={1}
            max={1000}
            value={max}
            onChange={(value) => onChange({ ...draft, max: value })}
            error={errorAt('autoscaling.max_replicas')}
          />
          <TextField
            name="autoscaling.cpu_percent"
            label={t('Use of CPU, in percent of the request')}
            type="number"
            min={1}
            max={1000}
            value={cpu}
            onChange={(value) => onChange({ ...draft, cpu: value })}
            error={errorAt('autoscaling.cpu_percent')}
          />
        </>
      )}
    </>
  );
}
