import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { looks, Status } from '../../shared/ui/display/Status.tsx';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import type { FleetOutput } from '../api.ts';

type Check = FleetOutput<'checkNewHost' | 'checkNewCluster'>['check'];

/**
 * The result of the check of a target before it is registered: what was found, or what was tried
 * and why it failed.
 */
export function NewTargetCheck({
  check,
  tried,
  version,
  existing,
  register,
  children,
}: {
  readonly check: Check;
  readonly tried: ReactNode;
  readonly version: string | null;
  /** The page of the same target that is registered already. */
  readonly existing: (id: string) => string;
  readonly register: {
    readonly run: () => void;
    readonly isPending: boolean;
    readonly blocked: string | undefined;
  };
  readonly children: ReactNode;
}) {
  const { reachability, message, registered_as } = check;
  return (
    <Panel title={t('Connection')}>
      <div className="stack">
        {reachability === 'online' ? (
          <div className="row" role="status">
            <Status {...looks.good(t('Responds'))} />
            {version && <span className="muted">{t('version {version}', { version })}</span>}
          </div>
        ) : (
          <div role="alert">
            <Notice kind="warning" title={t('The check failed')}>
              <p>{message}</p>
              <p className="muted">{tried}</p>
              <p>{t('Correct the fields and check again. It is not registered yet.')}</p>
              <div>
                <Button pending={register.isPending} blocked={register.blocked} onClick={register.run}>
                  {t('Register anyway')}
                </Button>
              </div>
            </Notice>
          </div>
        )}
        {registered_as && (
          <Notice kind="warning" title={t('It is registered already')}>
            <p>
              {rich('It is the same as <link>{name}</link>. Use this one, or change its address.', {
                name: registered_as.name,
                link: (words) => <Link href={existing(registered_as.id)}>{words}</Link>,
              })}
            </p>
          </Notice>
        )}
        {children}
      </div>
    </Panel>
  );
}
