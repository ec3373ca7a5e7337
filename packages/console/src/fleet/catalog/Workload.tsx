import controls from 'virtual:template-controls';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Download, RefreshCw, Save, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { isUnavailable } from '../../shared/api/problem.ts';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { Tabs, useTab } from '../../shared/ui/controls/Tabs.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { Diff } from '../../shared/ui/display/Diff.tsx';
import { textOf } from '../../shared/ui/display/object-text.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { OldValuesNotice } from '../../shared/ui/feedback/OldValues.tsx';
import { ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageError, PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { AcknowledgeFields, AdviceMarks, AdviceNotice, adviceOfCatalog } from '../advice/Advice.tsx';
import { type FleetOutput, fleet, useBlocked, type Workload as WorkloadObject } from '../api.ts';
import { phaseLook, templateStateLook } from '../looks.ts';
import { CatalogFileDialog } from './CatalogFileDialog.tsx';

const MAX_SHOWN = 100;
const tabs = [
  { id: 'overview', label: t('Overview') },
  { id: 'revisions', label: t('Revisions') },
  { id: 'specification', label: t('Specification') },
] as const;

type Revision = FleetOutput<'listWorkloadRevisions'>['revisions'][number];

/** The specification, without what identifies the revision, and what the hub says about its template. */
function specOf({ revision: _, created_at: __, created_by: ___, advice: ____, ...spec }: Revision): string {
  return textOf(spec);
}

export default function Workload({ params }: PageProps<'/workloads/:id'>) {
  const { data, error, refetch } = useQuery(fleet.read('getWorkload', { params }));
  const [dialog, setDialog] = useState<'file' | 'template' | 'delete'>();
  const tab = useTab(tabs);
  const [, navigate] = useLocation();
  const blocked = useBlocked();
  if (isUnavailable({ data, error })) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the workload…')} />;
  const { workload } = data;
  const { name, template_slug, template_state } = workload;
  // A later revision of the template can run the same without being flawed.
  const hasAdvisories = (workload.advice?.advisories.length ?? 0) > 0;
  const close = () => setDialog(undefined);
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Workloads'), href: '/workloads' }]}
        title={name}
        beside={
          <>
            <span className="tag">{t('revision {revision}', { revision: workload.revision })}</span>
            {template_state && <Status {...templateStateLook(template_state)} />}
            <AdviceMarks advice={workload.advice} />
          </>
        }
        about={
          <code>
            <bdi>{workload.image_name}</bdi>:{workload.image_tag}
          </code>
        }
        actions={
          <>
            {template_slug !== null && (
              <Button
                icon={RefreshCw}
                blocked={
                  blocked('updateWorkload') ??
                  (template_state === 'outdated' || (template_state === 'current' && hasAdvisories)
                    ? undefined
                    : t('The template has not changed since the latest revision.'))
                }
                aria-haspopup="dialog"
                onClick={() => setDialog('template')}
              >
                {t('Update from the template')}
              </Button>
            )}
            <Button
              icon={Save}
              blocked={blocked('updateWorkload')}
              onClick={() => navigate(href('/workloads/:id/revision', params))}
            >
              {t('New revision')}
            </Button>
            <Button icon={Download} aria-haspopup="dialog" onClick={() => setDialog('file')}>
              {t('Download')}
            </Button>
            <Button
              icon={Trash2}
              tone="danger"
              blocked={blocked('deleteWorkload')}
              aria-haspopup="dialog"
              onClick={() => setDialog('delete')}
            >
              {t('Delete')}
            </Button>
          </>
        }
      />
      {error && <ErrorView error={error} retry={refetch} />}
      <OldValuesNotice warnings={workload.warnings} />
      {workload.advice && <AdviceNotice advice={workload.advice} />}
      <Tabs label={t('Parts of the workload')} tabs={tabs} current={tab} path={href('/workloads/:id', params)} />
      {tab === 'overview' && <Deployments id={workload.id} latest={workload.revision} />}
      {tab === 'revisions' && <Revisions id={workload.id} />}
      {tab === 'specification' && (
        <Panel title={t('Latest revision')} flush>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
          <pre className="code" tabIndex={0}>
            {textOf(workload)}
          </pre>
        </Panel>
      )}
      {dialog === 'file' && <CatalogFileDialog workload={workload} onClose={close} />}
      {dialog === 'template' && <TemplateDialog workload={workload} onClose={close} />}
      {dialog === 'delete' && <DeleteDialog workload={workload} onClose={close} />}
    </>
  );
}

function Deployments({ id, latest }: { readonly id: string; readonly latest: number }) {
  const { data, error, refetch } = useQuery(
    fleet.read('listDeployments', { query: { workload_id: id, limit: MAX_SHOWN, sort: 'name' } }),
  );
  if (error) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the deployments…')} />;
  return (
    <Panel title={t('Deployments of this workload')} flush>
      {data.deployments.length === 0 && <p className="body muted">{t('No deployment uses this workload.')}</p>}
      <ul className="item-list">
        {data.deployments.map((deployment) => (
          <li key={deployment.id} className="spread">
            <span className="row">
              <Link href={href('/deployments/:id', { id: deployment.id })} className="cell-link">
                {deployment.name}
              </Link>
              <Status {...phaseLook(deployment)} />
            </span>
            <span className="row">
              <span className="muted small">{t('revision {revision}', { revision: deployment.revision })}</span>
              {deployment.revision !== latest && (
                <Link href={href('/deployments/:id/change', { id: deployment.id })}>
                  {t('Change to revision {latest}', { latest })}
                </Link>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Revisions({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(
    fleet.read('listWorkloadRevisions', { params: { id }, query: { limit: MAX_SHOWN } }),
  );
  if (error) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the revisions…')} />;
  return (
    <div className="stack">
      {data.revisions.map((revision, index) => {
        const before = data.revisions[index + 1];
        return (
          <Panel key={revision.revision} title={t('Revision {revision}', { revision: revision.revision })} flush>
            <p className="muted small body">
              {rich('{time} by {name}', { time: <Time at={revision.created_at} />, name: revision.created_by })}
            </p>
            {before && (
              <Diff
                label={t('Changes of revision {revision}', { revision: revision.revision })}
                before={specOf(before)}
                after={specOf(revision)}
              />
            )}
          </Panel>
        );
      })}
    </div>
  );
}

interface DialogProps {
  readonly workload: WorkloadObject;
  readonly onClose: () => void;
}

/** The members of a template that a workload copies. */
const copiedMembers: ReadonlySet<string> = new Set(
  controls.filter(({ topic }) => topic !== 'catalog' && topic !== 'documentation').map(({ name }) => name),
);

function TemplateDialog({ workload, onClose }: DialogProps) {
  const slug = workload.template_slug ?? '';
  const template = useQuery(fleet.read('getMirroredTemplate', { params: { slug } }));
  const [acknowledged, setAcknowledged] = useState<readonly string[]>([]);
  const update = useMutation({
    ...fleet.change('updateWorkload'),
    onSuccess: ({ workload: { name, revision } }) => {
      confirmChange(
        revision === workload.revision
          ? t('Nothing is changed.')
          : t('Revision {revision} of {name} is created', { revision, name }),
      );
      onClose();
    },
  });
  const partOf = (object: object) =>
    textOf(Object.fromEntries(Object.entries(object).filter(([member]) => copiedMembers.has(member))));
  return (
    <ConfirmDialog
      title={t('Update {name} from {slug}?', { name: workload.name, slug })}
      action={t('Create the revision')}
      pending={update.isPending}
      error={update.error ?? template.error}
      onClose={onClose}
      onConfirm={() =>
        update.mutate({
          params: { id: workload.id },
          ifMatch: workload.version,
          body: { template: slug, acknowledge: [...acknowledged] },
        })
      }
    >
      <p>
        {t(
          'Members that were set for this workload stay as they are. Deployments keep their revision until you change them.',
        )}
      </p>
      {template.data && <AdviceNotice advice={adviceOfCatalog(template.data)} />}
      {template.data && (
        <AcknowledgeFields
          advice={adviceOfCatalog(template.data)}
          acknowledged={acknowledged}
          onChange={setAcknowledged}
        />
      )}
      {template.data && (
        <Diff label={t('Changes from the template')} before={partOf(workload)} after={partOf(template.data)} />
      )}
    </ConfirmDialog>
  );
}

function DeleteDialog({ workload: { id, name, version }, onClose }: DialogProps) {
  const [, navigate] = useLocation();
  const remove = useMutation({
    ...fleet.change('deleteWorkload'),
    onSuccess: () => {
      confirmChange(t('Workload {name} is deleted', { name }));
      navigate('/workloads');
    },
  });
  return (
    <ConfirmDialog
      title={t('Delete {name}?', { name })}
      action={t('Delete')}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params: { id }, ifMatch: version })}
    >
      <p>{t('The workload is deleted with all its revisions. This is only possible if no deployment uses it.')}</p>
    </ConfirmDialog>
  );
}
