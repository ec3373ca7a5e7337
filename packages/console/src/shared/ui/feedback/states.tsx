import { CircleAlert, CircleCheck, Info, type LucideIcon, RefreshCw, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { wordsOf } from '../../api/problem.ts';
import { rich, t } from '../../texts/texts.ts';
import { Button } from '../controls/Button.tsx';
import { CopyButton } from '../controls/Copy.tsx';

/**
 * A message while data is loading. It appears after a moment, so that fast responses do not cause
 * flicker.
 */
export const Loading = ({ text }: { readonly text: string }) => (
  <p role="status" className="loading">
    {text}
  </p>
);

/** What an empty view would contain, and how to create the first item. */
export const Empty = ({
  icon: Icon,
  title,
  children,
  action,
  isPage = false,
}: {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
  /** The view is the whole page. */
  readonly isPage?: boolean;
}) => (
  <div className="empty">
    <span className="glyph">
      <Icon size={22} aria-hidden />
    </span>
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    {children && <p>{children}</p>}
    {action && <div className="actions">{action}</div>}
  </div>
);

/** A problem: what is wrong, what to do, and the request id for the log. */
export function ErrorView({ error, retry }: { readonly error: unknown; readonly retry?: () => unknown }) {
  const { title, sentence, detail, nextStep, requestId } = wordsOf(error);
  return (
    <div role="alert" className="problem">
      <CircleAlert size={18} aria-hidden />
      <div className="stack-small grow">
        <h2>{title}</h2>
        <p>{sentence}</p>
        {detail && <p>{detail}</p>}
        {nextStep && <p>{nextStep}</p>}
        {(requestId || retry) && (
          <div className="row">
            {retry && (
              <Button size="small" icon={RefreshCw} onClick={() => void retry()}>
                {t('Try again')}
              </Button>
            )}
            {requestId && (
              <span className="small muted">
                {rich('Request id {id}', { id: <code>{requestId}</code> })}{' '}
                <CopyButton text={requestId} action={t('Copy request id')} />
              </span>
            )}
          </div>
        )}
      </div>
    </div>
  );
}

const noticeIcons = { warning: TriangleAlert, info: Info, good: CircleCheck } as const;

export function Notice({
  kind = 'info',
  title,
  children,
}: {
  readonly kind?: keyof typeof noticeIcons;
  readonly title?: string;
  readonly children?: ReactNode;
}) {
  const Icon = noticeIcons[kind];
  return (
    <div className={`notice ${kind}`}>
      <Icon size={18} aria-hidden />
      <div className="stack-small grow">
        {title && <p className="strong">{title}</p>}
        {children}
      </div>
    </div>
  );
}
