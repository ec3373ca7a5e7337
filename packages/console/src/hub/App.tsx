import { useQuery } from '@tanstack/react-query';
import { Compass, LayoutGrid, LogIn } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { Pages } from '../shared/routing/page.tsx';
import { t } from '../shared/texts/texts.ts';
import { Dialog } from '../shared/ui/dialogs/Dialog.tsx';
import { ConnectionBand } from '../shared/ui/feedback/ConnectionBand.tsx';
import { Empty, ErrorView, Loading } from '../shared/ui/feedback/states.tsx';
import { SignedIn } from '../shared/ui/session/SignedIn.tsx';
import { SignInFailureNotice } from '../shared/ui/session/SignInFailureNotice.tsx';
import { Shell } from '../shared/ui/shell/Shell.tsx';
import { UserMenu } from '../shared/ui/shell/UserMenu.tsx';
import { usePalette } from '../shared/ui/shell/usePalette.tsx';
import { sessionGate, sessionQuery, useBlocked, useOpenRequests } from './api.ts';
import './organization/invitation.ts';
import { SignInButton } from './account/SignInButton.tsx';
import { signOut } from './account/session.ts';
import { accountGroup, administrationGroup, publicGroup } from './navigation.tsx';
import { pages } from './pages.ts';
import { roleLabel } from './roles.ts';
import { useCommands } from './useCommands.ts';

export function App() {
  const session = useQuery(sessionQuery);
  const [path] = useLocation();
  if (path === '/signed-in') return <SignedIn gate={sessionGate} />;
  if (session.error && !session.data) {
    return (
      <main>
        <ErrorView error={session.error} retry={session.refetch} />
      </main>
    );
  }
  if (!session.data) return <Loading text={t('Loading the console…')} />;
  return <Console user={session.data.user} />;
}

const isPublic = (path: string) => path === '/' || /^\/(?:templates|applications)(?:\/|$)/.test(path);

type User = NonNullable<Parameters<typeof userDetail>[0]>;

const userDetail = (user: { readonly role: string; readonly organization: { readonly name: string } | null } | null) =>
  user === null ? '' : (user.organization?.name ?? roleLabel(user.role));

function Console({ user }: { readonly user: (User & { readonly name: string }) | null }) {
  const blocked = useBlocked();
  const [path] = useLocation();
  const isWaiting = sessionGate.useIsWaiting();
  const [openPalette, palette] = usePalette(useCommands);
  const openRequests = useOpenRequests();
  return (
    <>
      <Shell
        name="Hub"
        mark={LayoutGrid}
        groups={[
          publicGroup,
          ...(user ? [accountGroup] : []),
          ...(blocked('getStats') ? [] : [administrationGroup(openRequests)]),
        ]}
        user={
          user ? (
            <UserMenu name={user.name} detail={userDetail(user)} onSignOut={() => void signOut()} />
          ) : (
            <SignInButton />
          )
        }
        onSearch={openPalette}
        bands={
          <>
            {!isWaiting && <ConnectionBand />}
            {!user && <SignInFailureNotice />}
          </>
        }
      >
        {!user && !isPublic(path) ? (
          <main id="main">
            <Empty isPage icon={LogIn} title={t('Sign in to continue')} action={<SignInButton />}>
              {t('This page is for signed-in users. The catalog is public.')}
            </Empty>
          </main>
        ) : (
          <Pages
            pages={pages}
            missing={
              <Empty
                isPage
                icon={Compass}
                title={t('There is no such page')}
                action={<Link href="/">{t('Go to the catalog')}</Link>}
              >
                {t('The address may have been mistyped, or the object was deleted.')}
              </Empty>
            }
          />
        )}
      </Shell>
      {palette}
      {isWaiting && (
        <Dialog title={t('Sign in to continue')}>
          <p>{t('You are not signed in, or your session has ended. The page and your input stay as they are.')}</p>
          <div className="dialog-actions">
            <SignInButton inWindow />
          </div>
        </Dialog>
      )}
    </>
  );
}
