import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { codeOf } from '../../shared/api/problem.ts';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { t } from '../../shared/texts/texts.ts';
import { Tabs, useTab } from '../../shared/ui/controls/Tabs.tsx';
import { OldValuesNotice } from '../../shared/ui/feedback/OldValues.tsx';
import { Loading } from '../../shared/ui/feedback/states.tsx';
import { PageError } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedTemplate } from '../api.ts';
import { DeletedObject } from '../history/DeletedObject.tsx';
import { History } from '../history/History.tsx';
import { StatusAndAdvisories } from '../history/StatusAndAdvisories.tsx';
import { ManagedHeader } from './ManagedHeader.tsx';
import { TemplateForm } from './TemplateForm.tsx';

const tabs = [
  { id: 'content', label: t('Content') },
  { id: 'status', label: t('Status and advisories') },
  { id: 'history', label: t('History') },
] as const;

export default function EditTemplate({ params }: PageProps<'/admin/templates/:id'>) {
  const { data, error, refetch } = useQuery(hub.read('getManagedTemplate', { params }));
  if (codeOf(error) === 'not_found') return <DeletedObject kind="template" id={params.id} />;
  if (error && !data) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the template…')} />;
  return <Editor template={data.template} />;
}

function Editor({ template }: { readonly template: ManagedTemplate }) {
  const tab = useTab(tabs);
  const { id, name, slug, revision, resource_version: version } = template;
  return (
    <>
      <ManagedHeader
        of={template}
        list={{ label: t('Templates'), href: '/admin/templates' }}
        copyHref={href('/admin/templates/new', undefined, { from: id })}
        catalogHref={href('/templates/:slug', { slug })}
      />
      <Tabs label={name} tabs={tabs} current={tab} path={href('/admin/templates/:id', { id })} />
      {tab === 'content' && <Content latest={template} />}
      {tab === 'status' && <StatusAndAdvisories kind="template" of={template} />}
      {tab === 'history' && (
        <History of={{ kind: 'template', id, name, newest: revision ?? 0, version, isDeleted: false }} />
      )}
    </>
  );
}

/**
 * The form keeps the version that the user began to change. A change by someone else meanwhile is a
 * conflict.
 */
function Content({ latest }: { readonly latest: ManagedTemplate }) {
  const [template, setTemplate] = useState(latest);
  return (
    <>
      <OldValuesNotice warnings={template.warnings} />
      <TemplateForm key={template.resource_version} template={template} onSaved={setTemplate} />
    </>
  );
}
