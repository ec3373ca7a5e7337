import { t } from '../../shared/texts/texts.ts';
import { CopyLine, ShownOnceDialog } from '../../shared/ui/dialogs/ShownOnceDialog.tsx';
import { type FleetOutput, useBlocked } from '../api.ts';

type GeneratedValue = FleetOutput<'revealDeploymentValue'>;

/** The response of a change of a deployment. */
interface Reply {
  /** Delete after 0.2: that it is optional, and its defaults. A replica of version 0.2 sends no values. */
  readonly generated?: readonly GeneratedValue[];
}

/** The options of a change whose response contains generated values: the cache does not keep it. */
export const forgetsValues = { gcTime: 0 } as const;

export const hasValues = ({ generated = [] }: Reply): boolean => generated.length > 0;

/** Shows the values that a change of a deployment has generated, if there are any. */
export const GeneratedValues = ({
  reply: { generated = [] },
  deployment,
  onClose,
}: {
  readonly reply: Reply;
  /** The name of the deployment. */
  readonly deployment: string;
  readonly onClose: () => void;
}) => generated.length > 0 && <GeneratedValuesDialog deployment={deployment} generated={generated} onClose={onClose} />;

function GeneratedValuesDialog({
  deployment,
  generated,
  onClose,
}: {
  /** The name of the deployment. */
  readonly deployment: string;
  readonly generated: readonly GeneratedValue[];
  readonly onClose: () => void;
}) {
  const blocked = useBlocked();
  return (
    <ShownOnceDialog
      title={t('Copy the generated values of {name} now', { name: deployment })}
      note={t('They are shown once after they are generated')}
      about={
        blocked('revealDeploymentValue') === undefined
          ? t('If you need them again, choose Reveal on its page. Each use is recorded.')
          : t('The fleet does not permit you to read them again later.')
      }
      done={t('I have copied them')}
      onClose={onClose}
    >
      {generated.map(({ name, value }) => (
        <CopyLine key={name} label={name} text={value} action={t('Copy the value of {name}', { name })} />
      ))}
    </ShownOnceDialog>
  );
}
