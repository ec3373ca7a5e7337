import { useMutation, useQuery } from '@tanstack/react-query';
import { CirclePlus, Pencil, X } from 'lucide-react';
import { useState } from 'react';
import { AdvisoryText } from '../../shared/catalog/TemplateAdvice.tsx';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { SelectField, TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useEdits, useForm } from '../../shared/ui/controls/form.ts';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedApplication, type ManagedTemplate, type TemplateBody, useBlocked } from '../api.ts';
import { type Kind, operations } from './kinds.ts';

type Status = NonNullable<TemplateBody['status']>;
type Advisory = ManagedTemplate['advisories'][number];

const statuses: readonly { readonly value: Status; readonly label: string }[] = [
  { value: 'active', label: t('Active') },
  { value: 'deprecated', label: t('Deprecated: it works, and should no longer be used') },
  { value: 'blocked', label: t('Blocked: fleets refuse new deployments') },
];

/** The texts about a kind. */
const texts = {
  template: {
    readers: t('Everyone who sees the template can read it.'),
    replacement: t('Slug of the template to use instead'),
    ofReplacement: t('Empty: none. Everyone who sees the template can read it.'),
    ofMessage: t('What is wrong, and what to do. Everyone who sees the template can read it.'),
  },
  application: {
    readers: t('Everyone who sees the application can read it.'),
    replacement: t('Slug of the application to use instead'),
    ofReplacement: t('Empty: none. Everyone who sees the application can read it.'),
    ofMessage: t('What is wrong, and what to do. Everyone who sees the application can read it.'),
  },
} as const satisfies Record<Kind, unknown>;

interface Given {
  readonly kind: Kind;
  readonly of: Pick<
    ManagedTemplate & ManagedApplication,
    'id' | 'revision' | 'resource_version' | 'is_public' | 'status' | 'status_message' | 'replacement' | 'advisories'
  >;
}

/** What a template or an application tells the fleets, beside its content. */
export const StatusAndAdvisories = (given: Given) => (
  <div className="stack">
    <Audience kind={given.kind} id={given.of.id} />
    <StatusPanel {...given} />
    <AdvisoriesPanel {...given} />
  </div>
);

/** How many organizations see an object: those that would lose it with its deletion. */
function Audience({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const body = { withdrawn: [id] };
  const plan = useQuery({
    queryKey: ['admin', 'audience', id],
    queryFn: ({ signal }) => hub.call('planVisibility', { body, signal }),
  });
  const all = useQuery(hub.read('listOrganizations', { query: { limit: 1 } }));
  if (!plan.data || !all.data) return null;
  const losesIt = ({ lost, applications }: typeof plan.data.everyone) =>
    (kind === 'template' ? lost : applications.lost) > 0;
  const isPublic = losesIt(plan.data.everyone);
  const count = isPublic ? all.data.pagination.total : plan.data.organizations.filter(losesIt).length;
  const organizations =
    kind === 'template'
      ? t('{count, plural, one {# organization sees} other {# organizations see}} this template.', { count })
      : t('{count, plural, one {# organization sees} other {# organizations see}} this application.', { count });
  return (
    <p>
      {organizations} {isPublic && t('Everyone else can see it, too.')}
    </p>
  );
}

function StatusPanel({ kind, of }: Given) {
  const { id, resource_version } = of;
  const form = useEdits<{ status: Status; status_message: string; replacement: string }>({
    status: statuses.find(({ value }) => value === of.status)?.value ?? 'active',
    status_message: of.status_message,
    replacement: of.replacement ?? '',
  });
  const update = useMutation({
    ...hub.change(operations[kind].update, 'catalog'),
    onSuccess: () => {
      confirmChange(t('The status is published'));
      form.discard();
    },
  });
  const blocked = useBlocked()(operations[kind].update);
  const errorAt = form.errorsOf(update.error);
  const { status, status_message, replacement } = form.values;
  return (
    <Panel title={t('Status')}>
      <form
        className="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate({
            query: { id },
            body: { status, status_message, replacement: replacement === '' ? null : replacement },
            ifMatch: resource_version,
          });
        }}
      >
        <SelectField {...form.bind('status')} label={t('Status')} options={statuses} error={errorAt('status')} />
        <TextAreaField
          {...form.bind('status_message')}
          label={t('Reason')}
          rows={2}
          mono={false}
          required={status === 'blocked'}
          hint={texts[kind].readers}
          error={errorAt('status_message')}
        />
        <TextField
          {...form.bind('replacement')}
          label={texts[kind].replacement}
          mono
          hint={texts[kind].ofReplacement}
          error={errorAt('replacement')}
        />
        {kind === 'template' && status === 'blocked' && of.is_public && (
          <p className="muted small">
            {t('Fleets of earlier versions ignore the status. To stop them, also make the template private.')}
          </p>
        )}
        <FormError error={update.error} shown={['status', 'status_message', 'replacement']} />
        <div className="actions">
          <Button type="submit" tone="primary" pending={update.isPending} blocked={blocked}>
            {t('Publish the status')}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

function AdvisoriesPanel({ kind, of }: Given) {
  const [edited, setEdited] = useState<Advisory | 'new'>();
  const [withdrawn, setWithdrawn] = useState<Advisory>();
  const blocked = useBlocked()(operations[kind].publishAdvisory);
  return (
    <Panel
      title={t('Advisories')}
      flush
      actions={
        <Button
          size="small"
          icon={CirclePlus}
          blocked={blocked}
          aria-haspopup="dialog"
          onClick={() => setEdited('new')}
        >
          {t('New advisory')}
        </Button>
      }
    >
      {of.advisories.length === 0 && (
        <p className="body muted">
          {t('No advisory is open. Publish one to tell the fleets what is wrong with a revision.')}
        </p>
      )}
      <ul className="item-list">
        {of.advisories.map((advisory) => (
          <li key={advisory.id} className="spread">
            <AdvisoryText advisory={advisory} />
            <span className="row">
              <Button
                size="small"
                icon={Pencil}
                blocked={blocked}
                aria-haspopup="dialog"
                onClick={() => setEdited(advisory)}
              >
                {t('Edit')}
              </Button>
              <Button
                size="small"
                icon={X}
                blocked={blocked}
                aria-haspopup="dialog"
                onClick={() => setWithdrawn(advisory)}
              >
                {t('Withdraw')}
              </Button>
            </span>
          </li>
        ))}
      </ul>
      {edited && (
        <AdvisoryDialog
          kind={kind}
          of={of}
          advisory={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {withdrawn && (
        <WithdrawDialog kind={kind} id={of.id} advisory={withdrawn} onClose={() => setWithdrawn(undefined)} />
      )}
    </Panel>
  );
}

const severities = [
  { value: 'note', label: t('Note: fleets show it') },
  { value: 'warning', label: t('Warning: fleets list affected deployments') },
  { value: 'critical', label: t('Critical: fleets also refuse new deployments until somebody acknowledges it') },
] as const;
type Severity = (typeof severities)[number]['value'];

function AdvisoryDialog({
  kind,
  of: { id, revision },
  advisory,
  onClose,
}: Given & {
  /** Undefined: a new one. */
  readonly advisory: Advisory | undefined;
  readonly onClose: () => void;
}) {
  const form = useForm<Record<'message' | 'url' | 'first_revision' | 'last_revision', string> & { severity: Severity }>(
    {
      severity: severities.find(({ value }) => value === advisory?.severity)?.value ?? 'warning',
      message: advisory?.message ?? '',
      url: advisory?.url ?? '',
      first_revision: `${advisory?.first_revision ?? revision ?? 1}`,
      last_revision: `${advisory?.last_revision ?? ''}`,
    },
  );
  const done = {
    onSuccess: () => {
      confirmChange(t('The advisory is published'));
      onClose();
    },
  };
  const create = useMutation({ ...hub.change(operations[kind].publishAdvisory, 'catalog'), ...done });
  const update = useMutation({ ...hub.change(operations[kind].replaceAdvisory, 'catalog'), ...done });
  const { error, isPending } = advisory ? update : create;
  const errorAt = form.errorsOf(error);
  const { severity, message, url, first_revision, last_revision } = form.values;
  const submit = () => {
    const body = {
      severity,
      message,
      url: url === '' ? null : url,
      first_revision: Number(first_revision),
      last_revision: last_revision === '' ? null : Number(last_revision),
    };
    if (advisory) update.mutate({ params: { id, advisory_id: advisory.id }, body });
    else create.mutate({ params: { id }, body });
  };
  return (
    <FormDialog
      title={advisory ? t('Edit advisory') : t('New advisory')}
      action={t('Publish')}
      pending={isPending}
      error={error}
      shown={['severity', 'message', 'url', 'first_revision', 'last_revision']}
      onClose={onClose}
      onSubmit={submit}
    >
      <Audience kind={kind} id={id} />
      <SelectField {...form.bind('severity')} label={t('Severity')} options={severities} error={errorAt('severity')} />
      <TextAreaField
        {...form.bind('message')}
        label={t('Message')}
        rows={4}
        mono={false}
        required
        hint={texts[kind].ofMessage}
        error={errorAt('message')}
      />
      <TextField
        {...form.bind('url')}
        label={t('Link')}
        type="url"
        hint={t('Starts with https.')}
        error={errorAt('url')}
      />
      <TextField
        {...form.bind('first_revision')}
        label={t('First revision')}
        type="number"
        min={1}
        hint={revision === null ? undefined : t('The newest revision is {revision}.', { revision })}
        error={errorAt('first_revision')}
      />
      <TextField
        {...form.bind('last_revision')}
        label={t('Last revision')}
        type="number"
        min={1}
        hint={t('Empty: also all later revisions.')}
        error={errorAt('last_revision')}
      />
    </FormDialog>
  );
}

function WithdrawDialog({
  kind,
  id,
  advisory,
  onClose,
}: {
  readonly kind: Kind;
  readonly id: string;
  readonly advisory: Advisory;
  readonly onClose: () => void;
}) {
  const withdraw = useMutation({
    ...hub.change(operations[kind].withdrawAdvisory, 'catalog'),
    onSuccess: () => {
      confirmChange(t('The advisory is withdrawn'));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Withdraw the advisory?')}
      action={t('Withdraw')}
      pending={withdraw.isPending}
      error={withdraw.error}
      onClose={onClose}
      onConfirm={() => withdraw.mutate({ params: { id, advisory_id: advisory.id } })}
    >
      <AdvisoryText advisory={advisory} />
      <p>{t('Fleets remove it with their next sync. It cannot be published again; a new one can.')}</p>
    </ConfirmDialog>
  );
}
