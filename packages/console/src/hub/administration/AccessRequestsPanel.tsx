import { useMutation, useQuery } from '@tanstack/react-query';
import { Check, X } from 'lucide-react';
import { useState } from 'react';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { TextAreaField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type HubOutput, hub } from '../api.ts';

type Request = HubOutput<'listAllAccessRequests'>['requests'][number];
type Decision = { readonly request: Request; readonly status: 'granted' | 'declined' };

/** The open requests of organizations for access to private categories. */
export function AccessRequestsPanel() {
  const { data, error, refetch } = useQuery(hub.read('listAllAccessRequests', { query: { status: 'open' } }));
  const [decision, setDecision] = useState<Decision>();
  if (error) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the requests…')} />;
  return (
    <Panel title={t('Access requests')} flush>
      {data.requests.length === 0 && <p className="body muted">{t('No organization requests access.')}</p>}
      <ul className="item-list">
        {data.requests.map((request) => (
          <li key={request.id} className="spread">
            <span className="stack-small">
              <span>
                {rich('{organization} requests {slug}', {
                  organization: <strong>{request.org_slug}</strong>,
                  slug: <code>{request.category_slug ?? request.template_slug}</code>,
                })}{' '}
                {request.category ? (
                  <span className="muted">{t('(category {name})', { name: request.category.name })}</span>
                ) : (
                  <span className="text-busy">{t('(does not exist)')}</span>
                )}
              </span>
              <span className="muted small">
                <bdi>{request.reason}</bdi> <Time at={request.created_at} />
              </span>
            </span>
            <span className="row">
              <Button
                size="small"
                icon={Check}
                blocked={request.category ? undefined : t('What is requested does not exist.')}
                aria-haspopup="dialog"
                onClick={() => setDecision({ request, status: 'granted' })}
              >
                {t('Grant')}
              </Button>
              <Button
                size="small"
                icon={X}
                aria-haspopup="dialog"
                onClick={() => setDecision({ request, status: 'declined' })}
              >
                {t('Decline')}
              </Button>
            </span>
          </li>
        ))}
      </ul>
      {decision && <DecisionDialog {...decision} onClose={() => setDecision(undefined)} />}
    </Panel>
  );
}

function DecisionDialog({ request, status, onClose }: Decision & { readonly onClose: () => void }) {
  const form = useForm({ answer: '' });
  const decide = useMutation({
    ...hub.change('decideAccessRequest', 'catalog'),
    onSuccess: () => {
      confirmChange(
        status === 'granted'
          ? t('{org_slug} has access', { org_slug: request.org_slug })
          : t('The request is declined'),
      );
      onClose();
    },
  });
  const isGrant = status === 'granted';
  const shown =
    isGrant && request.category ? { id: request.category.id, version: request.category.version } : undefined;
  return (
    <FormDialog
      title={
        isGrant
          ? t('Grant access to {org_slug}?', { org_slug: request.org_slug })
          : t('Decline the request of {org_slug}?', { org_slug: request.org_slug })
      }
      action={isGrant ? t('Grant access') : t('Decline')}
      pending={decide.isPending}
      error={decide.error}
      shown={['answer']}
      onClose={onClose}
      onSubmit={() =>
        decide.mutate({
          params: { id: request.id },
          body: { status, answer: form.values.answer, ...(shown && { category: shown }) },
        })
      }
    >
      {isGrant && request.category && (
        <p>
          {t(
            'All users and fleets of {organization} see all templates of the category {category} that their tier permits.',
            {
              organization: request.org_slug,
              category: request.category.name,
            },
          )}
        </p>
      )}
      <TextAreaField
        {...form.bind('answer')}
        label={t('Answer')}
        mono={false}
        error={form.errorsOf(decide.error)('answer')}
      />
    </FormDialog>
  );
}
