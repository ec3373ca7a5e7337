import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { Router } from 'wouter';
import { t } from '../texts/texts.ts';
import { ConfirmDialog } from '../ui/dialogs/Dialog.tsx';

/** A page that has input that is not saved. */
interface UnsavedPage {
  readonly href: string;
  readonly pathname: string;
  /** Asks whether to leave the page, and then leaves it. */
  readonly ask: (leave: () => void) => void;
}

let unsaved: UnsavedPage | undefined;

// The browser has already changed the address. This listener is older than that of the router, and
// a window calls its listeners in this order.
addEventListener('popstate', (event) => {
  if (!unsaved || location.pathname === unsaved.pathname) return;
  event.stopImmediatePropagation();
  history.pushState(null, '', unsaved.href);
  unsaved.ask(() => history.back());
});

/** The router of a console. It asks before a link leads away from input that is not saved. */
export const AskingRouter = ({ children }: { readonly children: ReactNode }) => (
  <Router
    aroundNav={(navigate, to, options) => {
      const leave = () => navigate(to, options);
      const isOtherPage = new URL(to, location.href).pathname !== location.pathname;
      if (unsaved && isOtherPage) unsaved.ask(leave);
      else leave();
    }}
  >
    {children}
  </Router>
);

/**
 * Asks before the user leaves the page while it has input that is not saved: by a link, with the
 * buttons of the browser, or by closing the tab. The page shows `question`. After `release`, the
 * page can be left.
 */
export function useUnsavedInput(isUnsaved: boolean): { readonly question: ReactNode; readonly release: () => void } {
  const [leave, setLeave] = useState<() => void>();
  const stop = useRef(() => {});
  const release = useCallback(() => stop.current(), []);
  useEffect(() => {
    if (!isUnsaved) return;
    const { href, pathname } = location;
    const own: UnsavedPage = { href, pathname, ask: (next) => setLeave(() => next) };
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    unsaved = own;
    addEventListener('beforeunload', onUnload);
    stop.current = () => {
      if (unsaved === own) unsaved = undefined;
      removeEventListener('beforeunload', onUnload);
    };
    return () => stop.current();
  }, [isUnsaved]);
  const question = leave && (
    <ConfirmDialog
      title={t('Leave without saving?')}
      action={t('Leave')}
      pending={false}
      error={undefined}
      onClose={() => setLeave(undefined)}
      onConfirm={() => {
        release();
        setLeave(undefined);
        leave();
      }}
    >
      <p>{t('What you have entered on this page is lost.')}</p>
    </ConfirmDialog>
  );
  return { question, release };
}
