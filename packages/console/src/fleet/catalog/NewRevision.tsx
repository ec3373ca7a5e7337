import controls from 'virtual:template-controls';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Save } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { fieldErrorsOf, isUnavailable } from '../../shared/api/problem.ts';
import { differingMembers } from '../../shared/catalog/control-values.ts';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { useEdit } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { focusField } from '../../shared/ui/controls/form.ts';
import { Diff } from '../../shared/ui/display/Diff.tsx';
import { textOf } from '../../shared/ui/display/object-text.ts';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { Loading } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageError, PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet, useBlocked, type Workload } from '../api.ts';
import { SpecFields, specFieldNames } from '../deployments/image/SpecFields.tsx';
import { draftOfSpec, fieldOf, specOfDraft } from '../deployments/image/spec-draft.ts';

export default function NewRevision({ params }: PageProps<'/workloads/:id/revision'>) {
  const { data, error, refetch } = useQuery(fleet.read('getWorkload', { params }));
  if (isUnavailable({ data, error })) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the workload…')} />;
  return <RevisionForm workload={data.workload} />;
}

/** A form for everything that a workload specifies, with the differences from the latest revision beside it. */
function RevisionForm({ workload: latest }: { readonly workload: Workload }) {
  // The version that the user began to change: a change by someone else meanwhile is a conflict,
  // not an overwrite.
  const [workload] = useState(latest);
  const { id, name, version } = workload;
  const [draft, setDraft] = useState(() => draftOfSpec(controls, workload));
  /** The members that the user has changed since the last request. */
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [, navigate] = useLocation();
  const { field } = useEdit();
  useEffect(() => {
    if (field) focusField(field);
  }, [field]);
  const blocked = useBlocked();
  const update = useMutation({
    ...fleet.change('updateWorkload'),
    onSuccess: (reply) => {
      confirmChange(t('Revision {revision} of {name} is created', { revision: reply.workload.revision, name }));
      navigate(href('/workloads/:id', { id }));
    },
  });
  const before = specOfDraft(controls, draftOfSpec(controls, workload), workload);
  const now = specOfDraft(controls, draft, workload);
  const changes = differingMembers(before, now);
  const members = Object.keys(changes);
  const messages = fieldErrorsOf(update.error).filter(({ path }) => !touched.has(fieldOf(path)));
  const partOf = (spec: object) =>
    textOf(Object.fromEntries(Object.entries(spec).filter(([member]) => members.includes(member))));
  return (
    <>
      <PageHeader
        crumbs={[
          { label: t('Workloads'), href: '/workloads' },
          { label: name, href: href('/workloads/:id', { id }) },
        ]}
        title={t('New revision of {name}', { name })}
        about={t('Deployments keep their revision until you change them.')}
      />
      <div className="split">
        <form
          className="panel"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            setTouched(new Set());
            update.mutate({ params: { id }, ifMatch: version, body: changes });
          }}
        >
          <SpecFields
            draft={draft}
            errorAt={(...paths) =>
              messages.find(({ path }) => paths.some((one) => path === one || path.startsWith(`${one}.`)))?.message
            }
            onChange={(member, changed) => {
              setTouched(new Set([...touched, member]));
              setDraft(changed);
            }}
          />
          <div className="form-section">
            <FormError error={update.error} shown={specFieldNames} />
            <div className="actions">
              <Button
                type="submit"
                tone="primary"
                icon={Save}
                pending={update.isPending}
                blocked={blocked('updateWorkload') ?? (members.length === 0 ? t('Nothing is changed.') : undefined)}
              >
                {t('Create the revision')}
              </Button>
              <Link href={href('/workloads/:id', { id })} className="button ghost">
                {t('Cancel')}
              </Link>
            </div>
          </div>
        </form>
        <div className="split-sticky">
          <Panel title={t('Changes')} flush>
            {members.length === 0 ? (
              <p className="body muted">{t('Nothing is changed.')}</p>
            ) : (
              <Diff label={t('Changes of the new revision')} before={partOf(before)} after={partOf(now)} />
            )}
          </Panel>
        </div>
      </div>
    </>
  );
}
