import { LogOut } from 'lucide-react';
import { t } from '../../texts/texts.ts';
import { Button } from '../controls/Button.tsx';
import { Time } from '../display/Time.tsx';
import { ErrorView, Loading } from '../feedback/states.tsx';
import { Table } from '../lists/Table.tsx';
import { Panel } from '../shell/PageHeader.tsx';
import { browserOf } from './browser-of.ts';

interface OwnSession {
  readonly id: string;
  readonly current: boolean;
  readonly kind: 'browser' | 'tokens';
  readonly user_agent: string | null;
  readonly source: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at: string;
}

/** The open sessions of the user. */
export const SessionsPanel = ({
  sessions,
  error,
  isPending,
  onRetry,
  onEnd,
  onSignOut,
  onSignOutEverywhere,
}: {
  readonly sessions: readonly OwnSession[] | undefined;
  readonly error: unknown;
  readonly isPending: boolean;
  readonly onRetry: () => unknown;
  readonly onEnd: (id: string) => void;
  readonly onSignOut: () => void;
  readonly onSignOutEverywhere: () => void;
}) => (
  <Panel
    title={t('Sessions')}
    flush
    actions={
      <>
        <Button icon={LogOut} onClick={onSignOut}>
          {t('Sign out here')}
        </Button>
        <Button tone="danger" icon={LogOut} onClick={onSignOutEverywhere}>
          {t('Sign out everywhere')}
        </Button>
      </>
    }
  >
    {error !== null && error !== undefined && <ErrorView error={error} retry={onRetry} />}
    {!sessions && !error && <Loading text={t('Loading your sessions…')} />}
    {sessions && (
      <Table
        label={t('Sessions')}
        columns={[
          { label: t('Session') },
          { label: t('Address') },
          { label: t('Started') },
          { label: t('Last used') },
          { label: t('Ends') },
          { label: t('Actions'), isHidden: true },
        ]}
      >
        {sessions.map((session) => (
          <tr key={session.id}>
            <th scope="row">
              {session.kind === 'browser' ? browserOf(session.user_agent) : t('Program with tokens')}{' '}
              {session.current && <span className="tag">{t('this one')}</span>}
            </th>
            <td className="mono small muted">{session.source ?? t('unknown')}</td>
            <td className="muted">
              <Time at={session.created_at} />
            </td>
            <td className="muted">{session.last_used_at ? <Time at={session.last_used_at} /> : t('not yet')}</td>
            <td className="muted">
              <Time at={session.expires_at} isUpcoming />
            </td>
            <td className="end">
              {!session.current && (
                <Button size="small" pending={isPending} onClick={() => onEnd(session.id)}>
                  {t('End')}
                </Button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    )}
  </Panel>
);
