import { useMutation } from '@tanstack/react-query';
import { ShieldCheck, X } from 'lucide-react';
import { useState } from 'react';
import { rich, t } from '../../texts/texts.ts';
import { Button } from '../controls/Button.tsx';
import { ErrorView, Notice } from '../feedback/states.tsx';
import { PageHeader, Panel } from '../shell/PageHeader.tsx';

/** What a program on this machine asks for. */
interface ConnectRequest {
  /** The port of this machine on which the program waits for the code. */
  readonly port: string;
  /** The program compares it, so that it accepts only the end of what it began. */
  readonly state: string;
  readonly challenge: string;
}

/** Reads the request of a program. Anybody can write a link, so each part must have its form. */
function requestIn(search: URLSearchParams): ConnectRequest | undefined {
  const [port = '', state = '', challenge = ''] = ['port', 'state', 'challenge'].map((name) => search.get(name) ?? '');
  const isPort = /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
  if (!isPort || !/^[\w-]{16,128}$/.test(state) || !/^[\w-]{43}$/.test(challenge)) return undefined;
  return { port, state, challenge };
}

/** Leads the browser back to the program. The address is always one of this machine. */
const returnTo = ({ port, state }: ConnectRequest, result: Readonly<Record<string, string>>): void =>
  location.replace(`http://127.0.0.1:${port}/?${new URLSearchParams({ ...result, state })}`);

/**
 * The page with which a person lets a program on this machine act as this person. Nothing happens
 * before the person has agreed. `connect` gets the code for the program.
 */
export function ConnectPage({
  name,
  connect,
}: {
  readonly name: string;
  readonly connect: (challenge: string) => Promise<{ readonly code: string }>;
}) {
  const [request] = useState(() => requestIn(new URLSearchParams(location.search)));
  const agree = useMutation({
    mutationFn: ({ challenge }: ConnectRequest) => connect(challenge),
    onSuccess: ({ code }, asked) => returnTo(asked, { code }),
  });
  if (!request) {
    return (
      <>
        <PageHeader title={t('Connect svc')} />
        <Notice kind="warning" title={t('This link is not complete')}>
          <p>{t('Run the command again, and open the address that it prints.')}</p>
        </Notice>
      </>
    );
  }
  return (
    <>
      <PageHeader title={t('Connect svc')} />
      <Panel>
        <div className="stack">
          <p>
            {rich(
              'The command line client svc on this machine asks to act as {name}, with all rights of this account.',
              {
                name: <strong>{name}</strong>,
              },
            )}
          </p>
          <p className="muted">
            {t(
              'Allow it only if you have just run the command. You can end the session of svc at any time on the page of your account.',
            )}
          </p>
          {agree.error && <ErrorView error={agree.error} />}
          <div className="row">
            <Button
              tone="primary"
              icon={ShieldCheck}
              pending={agree.isPending || agree.isSuccess}
              onClick={() => agree.mutate(request)}
            >
              {t('Allow')}
            </Button>
            <Button icon={X} onClick={() => returnTo(request, { error: 'access_denied' })}>
              {t('Cancel')}
            </Button>
          </div>
        </div>
      </Panel>
    </>
  );
}
