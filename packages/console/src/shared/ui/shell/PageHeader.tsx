import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';
import { isolated, t } from '../../texts/texts.ts';
import { ErrorView } from '../feedback/states.tsx';

const product = () => document.documentElement.dataset.product ?? '';

/** The title of a page, also in the tab of the browser, with its actions. */
export function PageHeader({
  title,
  about,
  before,
  beside,
  actions,
  crumbs = [],
}: {
  readonly title: string;
  readonly about?: ReactNode;
  /** Before the title, such as an icon. */
  readonly before?: ReactNode;
  /** Beside the title, such as a status. */
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  readonly crumbs?: readonly { readonly label: string; readonly href: string }[];
}) {
  useEffect(() => {
    document.title = `${isolated(title)} · ${product()}`;
  }, [title]);
  return (
    <div className="page-header">
      <div className="titles">
        {crumbs.length > 0 && (
          <nav className="crumbs" aria-label={t('Breadcrumb')}>
            {crumbs.map(({ label, href }, index) => (
              <span key={href} className="row-nowrap">
                {index > 0 && <span aria-hidden>/</span>}
                <Link href={href}>{label}</Link>
              </span>
            ))}
          </nav>
        )}
        <div className="heading">
          {before}
          <h1>{title}</h1>
          {beside}
        </div>
        {about && <div className="about">{about}</div>}
      </div>
      {actions && <div className="actions">{actions}</div>}
    </div>
  );
}

/** A page that cannot be shown. */
export const PageError = ({ error, retry }: { readonly error: unknown; readonly retry?: () => unknown }) => (
  <>
    <PageHeader title={t('This page is not available')} />
    <ErrorView error={error} {...(retry ? { retry } : {})} />
  </>
);

/** A box with a heading. */
export const Panel = ({
  title,
  actions,
  children,
  footer,
  flush = false,
}: {
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
  /** The content reaches the edges. */
  readonly flush?: boolean;
}) => (
  <section className="panel" aria-label={title}>
    {title && (
      <header>
        <h2>{title}</h2>
        {actions && <div className="actions">{actions}</div>}
      </header>
    )}
    {flush ? children : <div className="body">{children}</div>}
    {footer && <footer>{footer}</footer>}
  </section>
);
