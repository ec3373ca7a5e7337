import { useState } from 'react';
import { t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { TextAreaField } from '../../../shared/ui/controls/Field.tsx';
import { Dialog } from '../../../shared/ui/dialogs/Dialog.tsx';
import { Notice } from '../../../shared/ui/feedback/states.tsx';
import {
  type Omission,
  type OmissionReason,
  type RunCommand,
  type RunCommandError,
  readRunCommand,
} from './docker-run.ts';

const errorWords: Readonly<Record<RunCommandError, string>> = {
  program: t('This is not a docker run command.'),
  image: t('The command names no image.'),
};

/** Why a part of the command is not in the form, and what to do. */
const reasonWords: Readonly<Record<OmissionReason, string>> = {
  'host-port': t('The fleet chooses the address and the port of the host. The deployment shows them.'),
  'host-path': t(
    'A new, empty volume replaces the folder of the host. Copy its content into the volume if it is needed.',
  ),
  'env-file': t('The file is on your machine. Add its variables below.'),
  'shell-value': t('The value was that of your shell. Enter it below.'),
  expansion: t('The shell would have replaced a part of this. Enter the value.'),
  'user-name': t('Only the image knows which user a name means. Enter the id as the user.'),
  'tmpfs-size': t('A temporary directory has a size. It is 64 MiB now.'),
  network: t('Choose the networks from which the ports can be reached instead.'),
  restart: t('A service is always started again. For a program that ends, set Kind to job.'),
  terminal: t('The program has no terminal. Its output is in the log.'),
  'health-timing': t('The intervals of health checks are those of the fleet.'),
  gpus: t('The fleet chooses the GPUs. Check their number.'),
  invalid: t('The value could not be read.'),
  unsupported: t('A workload has no such setting.'),
  rest: t('Only the first command is used.'),
};

/** Reads a `docker run` command that the user pastes. */
export function PasteDialog({
  onRead,
  onClose,
}: {
  readonly onRead: (run: RunCommand) => void;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState('');
  const [error, setError] = useState<string>();
  return (
    <Dialog title={t('Paste a docker run command')} onClose={onClose} wide>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const run = readRunCommand(text);
          if (typeof run === 'string') setError(errorWords[run]);
          else onRead(run);
        }}
      >
        <TextAreaField
          label={t('Command')}
          hint={t('It fills the form, and replaces image, command, variables, ports and volumes. Nothing is run.')}
          placeholder="docker run -d --name web -p 8080:80 nginx:1.29"
          value={text}
          error={error}
          onChange={(changed) => {
            setText(changed);
            setError(undefined);
          }}
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button type="submit" tone="primary">
            {t('Fill the form')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** What the form does not have of a command. */
export const Omissions = ({
  omissions,
  onClose,
}: {
  readonly omissions: readonly Omission[];
  readonly onClose: () => void;
}) => (
  <div className="form-section">
    <Notice kind="warning" title={t('Not carried over from the command')}>
      <ul>
        {omissions.map(({ written, reason }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an option can occur several times
          <li key={`${index}-${written}`}>
            <code>{written}</code> {reasonWords[reason]}
          </li>
        ))}
      </ul>
      <div>
        <Button size="small" onClick={onClose}>
          {t('Hide this list')}
        </Button>
      </div>
    </Notice>
  </div>
);
