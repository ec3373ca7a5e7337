import { t } from '../../shared/texts/texts.ts';
import { CheckField } from '../../shared/ui/controls/Field.tsx';

/**
 * The choice to continue with a machine that replaced the registered one. Only an unreachable
 * target can need it.
 */
export const AcceptEngineField = ({
  checked,
  onChange,
}: {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) => (
  <CheckField
    label={t('Accept another engine at this address')}
    hint={t(
      'After the machine was replaced or reinstalled: its deployments are created again, and volumes that no longer exist are reported as lost.',
    )}
    checked={checked}
    onChange={onChange}
  />
);
