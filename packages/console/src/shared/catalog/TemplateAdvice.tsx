import type { Template } from '@svc/contract';
import type { ReactNode } from 'react';
import { isolated, rich, t } from '../texts/texts.ts';
import { looks, Status, type StatusLook } from '../ui/display/Status.tsx';
import { Notice } from '../ui/feedback/states.tsx';

const statusLooks: Readonly<Record<string, StatusLook>> = {
  deprecated: looks.warning(t('Deprecated')),
  blocked: looks.bad(t('Blocked')),
};

/** The status of a template, unless it is active. */
export function TemplateStatus({ status }: Pick<Template, 'status'>) {
  const look = statusLooks[status];
  return look ? <Status {...look} /> : null;
}

const severityLooks: Readonly<Record<string, StatusLook>> = {
  note: looks.neutral(t('Note')),
  warning: looks.warning(t('Warning')),
  critical: looks.alert(t('Critical')),
};

type Advisory = Template['advisories'][number];

const rangeOf = ({ first_revision: first, last_revision: last }: Advisory) =>
  last === null
    ? t('Revision {first} and all later ones', { first })
    : t('Revisions {first} to {last}', { first, last });

/** An advisory as plain text. Only its URL is a link, and shows its host. */
export const AdvisoryText = ({ advisory }: { readonly advisory: Advisory }) => (
  <span className="stack-small">
    <span className="row">
      <Status {...(severityLooks[advisory.severity] ?? looks.neutral(advisory.severity))} />
      <span className="muted small">{rangeOf(advisory)}</span>
    </span>
    <bdi className="prewrap">{advisory.message}</bdi>
    {advisory.url !== null && <AdvisoryAddress url={advisory.url} />}
  </span>
);

/** The address of an advisory with its host. Anything other than https is text. */
export function AdvisoryAddress({ url }: { readonly url: string }) {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:') return <span className="muted">{isolated(url)}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {t('More at {host}', { host: parsed.host })}
    </a>
  );
}

/** Which template replaces another one. */
export const Replacement = ({ template }: { readonly template: ReactNode }) => (
  <p>{rich('Use {template} instead.', { template })}</p>
);

const titles: Readonly<Record<'template' | 'application', Readonly<Record<string, string>>>> = {
  template: {
    deprecated: t('This template is deprecated'),
    blocked: t('This template must not be deployed'),
  },
  application: {
    deprecated: t('This application is deprecated'),
    blocked: t('This application must not be deployed'),
  },
};

/** What a template or an application tells about itself: that it is not active, and its advisories. */
export function TemplateAdvice({
  kind,
  of: { status, status_message, replacement, advisories },
}: {
  readonly kind: keyof typeof titles;
  readonly of: Pick<Template, 'status' | 'status_message' | 'replacement' | 'advisories'>;
}) {
  const title = titles[kind][status];
  return (
    <>
      {title && (
        <Notice kind="warning" title={title}>
          {status_message && (
            <p>
              <bdi className="prewrap">{status_message}</bdi>
            </p>
          )}
          {replacement !== null && <Replacement template={replacement} />}
        </Notice>
      )}
      {advisories.map((advisory) => (
        <Notice key={advisory.id} kind={advisory.severity === 'note' ? 'info' : 'warning'}>
          <AdvisoryText advisory={advisory} />
        </Notice>
      ))}
    </>
  );
}
