import { useQuery } from '@tanstack/react-query';
import { CopyPlus } from 'lucide-react';
import { useState } from 'react';
import { codeOf } from '../../shared/api/problem.ts';
import { TemplateStatus } from '../../shared/catalog/TemplateAdvice.tsx';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { Tabs, useTab } from '../../shared/ui/controls/Tabs.tsx';
import { looks, Status } from '../../shared/ui/display/Status.tsx';
import { OldValuesNotice } from '../../shared/ui/feedback/OldValues.tsx';
import { Loading } from '../../shared/ui/feedback/states.tsx';
import { PageError, PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedTemplate } from '../api.ts';
import { visibilityLook } from '../looks.ts';
import { History } from './History.tsx';
import { StatusAndAdvisories } from './StatusAndAdvisories.tsx';
import { TemplateForm } from './TemplateForm.tsx';

const tabs = [
  { id: 'content', label: t('Content') },
  { id: 'status', label: t('Status and advisories') },
  { id: 'history', label: t('History') },
] as const;

export default function EditTemplate({ params }: PageProps<'/admin/templates/:id'>) {
  const { data, error, refetch } = useQuery(hub.read('getManagedTemplate', { params }));
  if (codeOf(error) === 'not_found') return <Deleted id={params.id} />;
  if (error && !data) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the template…')} />;
  return <Editor latest={data.template} />;
}

/**
 * The form keeps the version that the user began to change. A change by someone else meanwhile is a
 * conflict.
 */
function Editor({ latest }: { readonly latest: ManagedTemplate }) {
  const [template, setTemplate] = useState(latest);
  const tab = useTab(tabs);
  const { id, name, revision, resource_version: version } = latest;
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Templates'), href: '/admin/templates' }]}
        title={template.name}
        beside={
          <>
            <Status {...visibilityLook(!template.is_public)} />
            <TemplateStatus status={latest.status} />
          </>
        }
        about={<code>{template.slug}</code>}
        actions={
          <>
            <ButtonLink icon={CopyPlus} href={href('/admin/templates/new', undefined, { from: template.id })}>
              {t('Duplicate')}
            </ButtonLink>
            <ButtonLink href={href('/templates/:slug', { slug: template.slug })}>{t('View in the catalog')}</ButtonLink>
          </>
        }
      />
      <Tabs label={template.name} tabs={tabs} current={tab} path={href('/admin/templates/:id', { id })} />
      {tab === 'content' && (
        <>
          <OldValuesNotice warnings={template.warnings} />
          <TemplateForm key={template.resource_version} template={template} onSaved={setTemplate} />
        </>
      )}
      {tab === 'status' && <StatusAndAdvisories template={latest} />}
      {tab === 'history' && <History template={{ id, name, newest: revision ?? 0, version, isDeleted: false }} />}
    </>
  );
}

/** A template that does not exist. If it was deleted, its history remains. */
function Deleted({ id }: { readonly id: string }) {
  const query = { limit: 2 };
  const { data, error, refetch } = useQuery(hub.read('listRevisions', { params: { id }, query }));
  const newest = data?.revisions[0];
  const before = data?.revisions[1]?.revision;
  const content = useQuery({
    ...hub.read('getRevision', { params: { id, revision: `${before ?? 0}` } }),
    enabled: before !== undefined,
  });
  if (error) return <PageError error={error} retry={refetch} />;
  if (!newest || (before !== undefined && content.isPending)) return <Loading text={t('Loading the template…')} />;
  const name = content.data?.revision.template?.name ?? id;
  const version = newest.revision;
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Templates'), href: '/admin/templates' }]}
        title={name}
        beside={<Status {...looks.off(t('Deleted'))} />}
      />
      <History template={{ id, name, newest: version, version, isDeleted: true }} />
    </>
  );
}
