import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { Router } from 'wouter';
import { t } from '../texts/texts.ts';
import { ConfirmDialog } from '../ui/dialogs/Dialog.tsx';

/** A page that has input that is not saved. */
interface UnsavedPage {
  readonly href: string;
  /** Asks whether to leave the page, and then leaves it. */
  readonly ask: (leave: () => void) => void;
}

let unsaved: UnsavedPage | undefined;

/** Whether an address leads to another page, or to another tab. A tab has its own form. */
function isOther(from: string, to: string): boolean {
  const [before, after] = [new URL(from), new URL(to, from)];
  return before.pathname !== after.pathname || before.searchParams.get('tab') !== after.searchParams.get('tab');
}

// The browser has already changed the address. This listener is older than that of the router, and
// a window calls its listeners in this order.
addEventListener('popstate', (event) => {
  if (!unsaved || !isOther(unsaved.href, location.href)) return;
  event.stopImmediatePropagation();
  history.pushState(null, '', unsaved.href);
  unsaved.ask(() => history.back());
});

/** The router of a console. It asks before a link leads away from input that is not saved. */
export const AskingRouter = ({ children }: { readonly children: ReactNode }) => (
  <Router
    aroundNav={(navigate, to, options) => {
      const leave = () => navigate(to, options);
      if (unsaved && isOther(location.href, to)) unsaved.ask(leave);
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
    const { href } = location;
    const own: UnsavedPage = { href, ask: (next) => setLeave(() => next) };
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
