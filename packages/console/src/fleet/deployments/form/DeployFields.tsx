import { Rocket } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { ComboboxField } from '../../../shared/ui/controls/Combobox.tsx';
import { TextField } from '../../../shared/ui/controls/Field.tsx';
import type { Template } from '../../api.ts';
import { ScalingFields } from '../scaling/ScalingFields.tsx';
import type { ScalingDraft } from '../scaling/scaling-draft.ts';
import { useTargets } from '../useTargets.ts';
import { firstVolumeDraft, type VolumeDraft, VolumeField } from '../VolumeField.tsx';

interface Props<D> {
  readonly errorAt: (path: string) => string | undefined;
  /** `path` is that of the member of the request that the field sets. */
  readonly change: (path: string, changed: D) => void;
}

/** The name of something new, and where it runs. */
export function NameAndTargetFields({
  name,
  target,
  targetHint = t('The plan lists the reasons for each candidate.'),
  errorAt,
  change,
}: Props<{ readonly name: string } | { readonly target: string }> & {
  readonly name: string;
  readonly target: string;
  readonly targetHint?: string;
}) {
  const targets = useTargets(target);
  return (
    <>
      <TextField
        name="name"
        label={t('Name')}
        hint={t('Lower-case letters, digits and inner hyphens. It cannot be changed later.')}
        required
        mono
        value={name}
        error={errorAt('name')}
        onChange={(changed) => change('name', { name: changed })}
      />
      <ComboboxField
        name="target"
        label={t('Target')}
        hint={targetHint}
        value={target}
        error={errorAt('target')}
        {...targets}
        onChange={(changed) => change('target', { target: changed })}
      />
    </>
  );
}

/** The number of instances of a new deployment. */
export const ReplicasFields = ({
  replicas,
  scaling,
  errorAt,
  change,
}: Props<{ readonly replicas: string } | { readonly scaling: ScalingDraft }> & {
  readonly replicas: string;
  readonly scaling: ScalingDraft;
}) => (
  <>
    <TextField
      name="replicas"
      label={t('Replicas')}
      type="number"
      min={1}
      max={1000}
      value={replicas}
      error={errorAt('replicas')}
      onChange={(changed) => change('replicas', { replicas: changed })}
    />
    <ScalingFields
      draft={scaling}
      errorAt={errorAt}
      onChange={(changed) => change('autoscaling', { scaling: changed })}
    />
  </>
);

/** A field for each volume mount. */
export const VolumeFields = ({
  mounts,
  volumes,
  errorAt,
  change,
}: Props<{ readonly volumes: Readonly<Record<string, VolumeDraft>> }> & {
  readonly mounts: readonly Template['volume_mounts'][number][];
  readonly volumes: Readonly<Record<string, VolumeDraft>>;
}) =>
  mounts.map((mount) => (
    <VolumeField
      key={mount.name}
      mount={mount}
      draft={volumes[mount.name] ?? firstVolumeDraft}
      error={errorAt(`volumes.${mount.name}`)}
      onChange={(value) => change(`volumes.${mount.name}`, { volumes: { ...volumes, [mount.name]: value } })}
    />
  ));

/** The end of a form that deploys something. */
export const DeployActions = ({
  pending,
  blocked,
  isRejected,
  children,
  note,
}: {
  readonly pending: boolean;
  /** Why the user must not deploy. */
  readonly blocked: string | undefined;
  /** Whether the plan rejects what the user has submitted. */
  readonly isRejected: boolean;
  /** How to leave the form. */
  readonly children: ReactNode;
  readonly note?: ReactNode;
}) => (
  <div className="actions">
    <Button type="submit" tone="primary" icon={Rocket} pending={pending} blocked={blocked}>
      {t('Deploy')}
    </Button>
    {children}
    {isRejected && (
      <span className="field-error" role="alert">
        {t('The plan rejects this. See the reasons there.')}
      </span>
    )}
    {note}
  </div>
);
