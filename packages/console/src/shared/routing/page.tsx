import { Component, lazy, type ReactNode, Suspense, useEffect, useRef } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { Unreachable } from '../api/client.ts';
import { isHeard, onReturn } from '../api/connection.ts';
import { t } from '../texts/texts.ts';
import { Loading } from '../ui/feedback/states.tsx';
import { PageError } from '../ui/shell/PageHeader.tsx';
import type { ParamsOf } from './href.ts';

/** The properties of a page: the parameters of its pattern. */
export interface PageProps<P extends string = string> {
  readonly params: ParamsOf<P>;
}

export interface Page {
  readonly pattern: string;
  readonly render: (params: Readonly<Record<string, string>>) => ReactNode;
  /** Loads the code of the page. */
  readonly load: () => Promise<unknown>;
}

/**
 * A page whose code is loaded when it is opened. The properties of its component must match the
 * pattern.
 */
export function page<P extends string>(
  pattern: P,
  load: () => Promise<{ readonly default: (props: PageProps<P>) => ReactNode }>,
): Page {
  // lazy() keeps the properties of the component.
  const View = lazy(() => loaded(load())) as unknown as (props: PageProps<P>) => ReactNode;
  return {
    pattern,
    // The router has matched the pattern.
    render: (params) => <View params={params as ParamsOf<P>} />,
    load,
  };
}

/** The time limit of the code of a page, in milliseconds. */
const LOAD_MS = 20_000;

/** The code of a page could not be loaded. The browser keeps this until the page is loaded again. */
class CodeNotLoaded extends Unreachable {}

/** Fails if the code is not there within the time limit, so that the page offers to try again. */
function loaded<T>(code: Promise<T>): Promise<T> {
  let timeout: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    const late = () =>
      reject(new CodeNotLoaded(t('The page could not be loaded, because the service does not respond.')));
    timeout = setTimeout(late, LOAD_MS);
  });
  const known = code.catch((cause) => {
    throw new CodeNotLoaded(t('The page could not be loaded.'), { cause });
  });
  return Promise.race([known, limit]).finally(() => clearTimeout(timeout));
}

const RELOADED = 'reloaded';
/** So many reloads are made in this time, in milliseconds. After that, the error stays on the page. */
const MAX_RELOADS = 3;
const RELOADS_MS = 30_000;
/** The pauses before each try to reach the service, in milliseconds. */
const TRIES_MS = [0, 500, 1000, 2000, 4000];

/** Loads the page again as soon as the service responds, unless that has not helped or `signal` is aborted. */
async function reloadWhenHeard(signal: AbortSignal): Promise<void> {
  const earlier = (sessionStorage.getItem(RELOADED) ?? '')
    .split(' ')
    .filter((at) => Date.now() - Number(at) < RELOADS_MS);
  if (earlier.length >= MAX_RELOADS) return;
  for (const pause of TRIES_MS) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const heard = !signal.aborted && (await isHeard());
    if (signal.aborted) return;
    if (!heard) continue;
    sessionStorage.setItem(RELOADED, [...earlier, Date.now()].join(' '));
    location.reload();
    return;
  }
}

const INTENT_MS = 60;

/**
 * Loads the code of the current page at once, and of another one while the pointer or the focus
 * rests on a link to it.
 */
export function preloadPages(pages: readonly Page[]): void {
  const pageAt = (path: string) => pages.find(({ pattern }) => patternOf(pattern).test(path));
  // Opening the page shows the error.
  const load = (page: Page) => void page.load().catch(() => undefined);
  const current = pageAt(location.pathname);
  if (current) load(current);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const consider = ({ target }: Event) => {
    clearTimeout(timer);
    const link = target instanceof Element ? target.closest('a') : null;
    if (link?.origin !== location.origin) return;
    const found = pageAt(link.pathname);
    if (found) timer = setTimeout(() => load(found), INTENT_MS);
  };
  document.addEventListener('pointerover', consider);
  document.addEventListener('focusin', consider);
}

const patternOf = (pattern: string) => new RegExp(`^${pattern.replace(/:\w+/g, '[^/]+')}/?$`);

/** The page of the current address. The focus moves to it when the address changes. */
export function Pages({ pages, missing }: { readonly pages: readonly Page[]; readonly missing: ReactNode }) {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path moves the focus
  useEffect(() => {
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    isFirst.current = false;
  }, [path]);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      <Guard key={path}>
        <Suspense fallback={<Loading text={t('Loading the page…')} />}>
          <Switch>
            {pages.map(({ pattern, render }) => (
              <Route key={pattern} path={pattern}>
                {
                  (params) =>
                    render(params as Readonly<Record<string, string>>) /* patterns have only named parameters */
                }
              </Route>
            ))}
            <Route>{missing}</Route>
          </Switch>
        </Suspense>
      </Guard>
    </main>
  );
}

/** Shows an error in place of the page that threw it. The navigation stays usable. */
class Guard extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state = { error: undefined };
  #ignoreReturn = () => {};
  readonly #unmounted = new AbortController();
  override componentDidMount() {
    this.#ignoreReturn = onReturn(() => this.state.error && location.reload());
  }
  override componentDidCatch(error: unknown) {
    if (error instanceof CodeNotLoaded) void reloadWhenHeard(this.#unmounted.signal);
  }
  override componentWillUnmount() {
    this.#ignoreReturn();
    this.#unmounted.abort();
  }
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (this.state.error === undefined) return this.props.children;
    return <PageError error={this.state.error} retry={() => location.reload()} />;
  }
}
