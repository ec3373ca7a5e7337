import { useQuery } from '@tanstack/react-query';
import {
  Activity,
  Blocks,
  Boxes,
  CircleArrowUp,
  Combine,
  Compass,
  FileCheck,
  GitBranch,
  HardDrive,
  KeyRound,
  Layers,
  LayoutDashboard,
  Lock,
  RefreshCw,
  ScrollText,
  Server,
  Settings,
  TriangleAlert,
  Users,
  Waypoints,
} from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { followChanges } from '../shared/api/live.ts';
import { Pages } from '../shared/routing/page.tsx';
import { t } from '../shared/texts/texts.ts';
import { Dialog } from '../shared/ui/dialogs/Dialog.tsx';
import { ConnectionBand } from '../shared/ui/feedback/ConnectionBand.tsx';
import { Empty, ErrorView, Loading } from '../shared/ui/feedback/states.tsx';
import { SignedIn } from '../shared/ui/session/SignedIn.tsx';
import { Shell } from '../shared/ui/shell/Shell.tsx';
import { UserMenu } from '../shared/ui/shell/UserMenu.tsx';
import { usePalette } from '../shared/ui/shell/usePalette.tsx';
import { Invitation } from './account/Invitation.tsx';
import { SignIn, SignInForm } from './account/SignIn.tsx';
import { signOut, whenSignedIn } from './account/session.ts';
import { roleLabel } from './administration/roles.ts';
import { fleet, sessionGate, sessionQuery, useBlocked, useCaller, usePhaseCount } from './api.ts';
import { ActionDialog, chosenAction } from './deployments/list/ActionDialog.tsx';
import { updatesAvailable, useUpdateCount } from './deployments/updates/UpdateMark.tsx';
import { troubledPhases } from './looks.ts';
import { pages } from './pages.ts';
import { useCommands } from './useCommands.ts';

export function App() {
  const session = useQuery(sessionQuery);
  const [path] = useLocation();
  if (path === '/signed-in') return <SignedIn gate={sessionGate} />;
  if (path === '/invitation') return <Invitation />;
  if (session.error && !session.data) {
    return (
      <main>
        <ErrorView error={session.error} retry={session.refetch} />
      </main>
    );
  }
  if (!session.data) return <Loading text={t('Loading the console…')} />;
  return session.data.user ? <Console /> : <SignIn />;
}

const groups = [
  {
    items: [
      { href: '/', label: t('Overview'), icon: LayoutDashboard },
      { href: '/deployments', label: t('Deployments'), icon: Boxes },
      { href: '/applications', label: t('Applications'), icon: Combine },
      { href: '/updates', label: t('Updates'), icon: CircleArrowUp },
      { href: '/plans', label: t('Plans'), icon: FileCheck },
      { href: '/sources', label: t('Sources'), icon: GitBranch },
      { href: '/catalog', label: t('Catalog'), icon: Blocks },
    ],
  },
  {
    label: t('Infrastructure'),
    items: [
      { href: '/hosts', label: t('Hosts'), icon: Server },
      { href: '/clusters', label: t('Clusters'), icon: Waypoints },
      { href: '/workloads', label: t('Workloads'), icon: Layers },
      { href: '/storage', label: t('Storage'), icon: HardDrive },
      { href: '/secrets', label: t('Secrets'), icon: Lock },
    ],
  },
  {
    label: t('Access'),
    items: [
      { href: '/users', label: t('Users'), icon: Users },
      { href: '/tokens', label: t('MCP tokens'), icon: KeyRound },
    ],
  },
] as const;

const urlAfter = (after: string) => fleet.urlOf('watchChanges', { query: { counts: true, after } });

function Console() {
  const caller = useCaller();
  const blocked = useBlocked();
  const isWaiting = sessionGate.useIsWaiting();
  const [openPalette, palette] = usePalette(useCommands);
  const chosen = chosenAction.use();
  useEffect(() => followChanges(fleet.queries, { urlAfter, whenSignedIn }), []);
  const administration = {
    label: t('Administration'),
    items: [
      ...(blocked('listAuditEntries') ? [] : [{ href: '/audit', label: t('Audit log'), icon: ScrollText }]),
      { href: '/sync', label: t('Catalog sync'), icon: RefreshCw },
      ...(blocked('getOidcSettings') ? [] : [{ href: '/settings', label: t('Settings'), icon: Settings }]),
    ],
  };
  return (
    <>
      <Shell
        name="Fleet"
        mark={Layers}
        groups={[...withCounts({ troubled: useTroubleCount(), updates: useUpdateCount() }), administration]}
        user={<UserMenu name={caller.name} detail={roleLabel(caller.role)} onSignOut={() => void signOut()} />}
        onSearch={openPalette}
        bands={
          <>
            {!isWaiting && <ConnectionBand />}
            <Bands />
          </>
        }
      >
        <Pages
          pages={pages}
          missing={
            <Empty
              isPage
              icon={Compass}
              title={t('There is no such page')}
              action={<Link href="/">{t('Go to the overview')}</Link>}
            >
              {t('The address may have been mistyped, or the object was deleted.')}
            </Empty>
          }
        />
      </Shell>
      {palette}
      {chosen && (
        <ActionDialog
          action={chosen.action}
          deployments={[chosen.deployment]}
          onClose={() => chosenAction.set(undefined)}
        />
      )}
      {isWaiting && (
        <Dialog title={t('Your session has ended')}>
          <p>{t('Sign in again to continue. The page and your input stay as they are.')}</p>
          <SignInForm inWindow />
        </Dialog>
      )}
    </>
  );
}

interface Counts {
  readonly troubled: number;
  readonly updates: number;
}

/** The navigation with how much needs attention, beside the links to the lists. */
const withCounts = ({ troubled, updates }: Counts) => {
  const counts: Readonly<Record<string, ReactNode>> = {
    ...(troubled > 0 && { '/deployments': <TroubleCount count={troubled} /> }),
    ...(updates > 0 && { '/updates': <UpdateCount count={updates} /> }),
  };
  return groups.map((group) => ({
    ...group,
    items: group.items.map((item) => (counts[item.href] ? { ...item, count: counts[item.href] } : item)),
  }));
};

const TroubleCount = ({ count }: { readonly count: number }) => (
  <span className="status tone-bad">
    <TriangleAlert size={12} aria-hidden />
    {count}
    <span className="visually-hidden"> {t('with problems')}</span>
  </span>
);

const UpdateCount = ({ count }: { readonly count: number }) => (
  <span className="status tone-accent" title={updatesAvailable(count)}>
    <span aria-hidden>{count}</span>
    <span className="visually-hidden">{updatesAvailable(count)}</span>
  </span>
);

function useTroubleCount(): number {
  const count = usePhaseCount();
  return count?.(troubledPhases) ?? 0;
}

/** Messages that concern every page. */
function Bands() {
  const caller = useCaller();
  const sync = useQuery({ ...fleet.read('getSyncState'), refetchInterval: 60_000 });
  return (
    <>
      {caller.temporary && (
        <div className="band" role="status">
          <TriangleAlert size={16} aria-hidden />
          <span className="grow">
            {t(
              'You are the temporary admin. Create a permanent account, then remove the temporary admin from the configuration.',
            )}
          </span>
          <Link href="/users">{t('Create an account')}</Link>
        </div>
      )}
      {sync.data?.status === 'stale' && (
        <div className="band" role="status">
          <Activity size={16} aria-hidden />
          <span className="grow">
            {t('The catalog is stale: {reason}.', {
              reason: sync.data.last_failure?.reason ?? t('the hub does not respond'),
            })}
          </span>
          <Link href="/sync">{t('Details')}</Link>
        </div>
      )}
    </>
  );
}
