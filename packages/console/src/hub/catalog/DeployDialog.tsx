import { Rocket } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { withoutMarkers } from '../../shared/catalog/secret-variable.ts';
import { isWebUrl } from '../../shared/routing/href.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import { Dialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { CopyLine } from '../../shared/ui/dialogs/ShownOnceDialog.tsx';
import { formatList } from '../../shared/ui/display/format.ts';
import type { Template } from '../api.ts';
import { deployCommandOf } from './deploy-command.ts';

const FLEET_KEY = 'fleet';

/** Opens the form of a fleet, whose address stays in this browser. Also shows the command, and how to get a fleet. */
export function DeployDialog({ template, onClose }: { readonly template: Template; readonly onClose: () => void }) {
  const [address, setAddress] = useState(() => localStorage.getItem(FLEET_KEY) ?? '');
  const isAddress = isWebUrl(address);
  const path = `/deploy/${template.slug}`;
  return (
    <Dialog title={t('Deploy {name}', { name: template.name })} onClose={onClose} wide>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isAddress) return;
          const { origin } = new URL(address);
          localStorage.setItem(FLEET_KEY, origin);
          open(`${origin}${path}`, '_blank', 'noopener');
          onClose();
        }}
      >
        <TextField
          label={t('Address of your fleet')}
          type="url"
          placeholder="https://fleet.example.com"
          hint={t('This browser remembers it. The fleet shows the template after its next sync.')}
          value={address}
          onChange={setAddress}
        />
        <Command template={template} address={isAddress ? new URL(address).origin : undefined} />
        <WithoutFleet />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button
            type="submit"
            tone="primary"
            icon={Rocket}
            blocked={isAddress ? undefined : t('Enter the address of your fleet.')}
          >
            {t('Open in the fleet')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The command, and what it needs. */
function Command({ template, address }: { readonly template: Template; readonly address: string | undefined }) {
  const { text, variables, generated, secrets } = deployCommandOf(template);
  const needed = [
    {
      name: 'FLEET_URL',
      description: address ?? t('The address of the fleet, such as https://fleet.example.com.'),
    },
    { name: 'FLEET_TOKEN', description: t('A token with the role operator, from the page MCP tokens of the fleet.') },
    ...variables,
  ];
  return (
    <details>
      <summary className="strong">{t('With a command')}</summary>
      <div className="stack-small">
        <p>{t('Set these variables in your shell first:')}</p>
        <ul>
          {needed.map(({ name, description }) => (
            <li key={name}>
              <code>{name}</code> <bdi>{withoutMarkers(description)}</bdi>
            </li>
          ))}
        </ul>
        {generated.length > 0 && (
          <p className="muted">{t('The fleet generates the values of {names}.', { names: formatList(generated) })}</p>
        )}
        {secrets.length > 0 && (
          <p>
            {t('An admin of the fleet must create these secrets before: {names}.', {
              names: formatList(
                secrets.map(({ name, key }) =>
                  key === undefined ? name : t('{name} with the key {key}', { name, key }),
                ),
              ),
            })}
          </p>
        )}
        <CopyLine text={text} action={t('Copy command')} />
      </div>
    </details>
  );
}

/** Starts a fleet to try, in the source code of the product. */
const START = 'npm start';

/** How to get a fleet, and connect it to this hub. */
const WithoutFleet = () => (
  <details>
    <summary className="strong">{t('I have no fleet yet')}</summary>
    <div className="stack-small">
      <p>
        {t(
          'A fleet runs on a machine of yours and deploys to it and to others. In the source code of this product, with Node 20.19 or later, this command starts one to try:',
        )}
      </p>
      <CopyLine text={START} action={t('Copy command')} />
      <p>
        {rich(
          'It prints the address of the console of the fleet, and the account to sign in with. To see the templates of this hub there, create a key on the page <link>API keys</link>, and enter it with the address {address} in the settings of the fleet.',
          { link: (words) => <Link href="/keys">{words}</Link>, address: <code>{location.origin}</code> },
        )}
      </p>
    </div>
  </details>
);
