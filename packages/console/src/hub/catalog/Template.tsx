import { useMutation, useQuery } from '@tanstack/react-query';
import { Lock, Rocket } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { codeOf, isUnavailable } from '../../shared/api/problem.ts';
import { TemplateFacts, TemplateVariables } from '../../shared/catalog/TemplateFacts.tsx';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { Dialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { CopyLine } from '../../shared/ui/dialogs/ShownOnceDialog.tsx';
import { Markdown } from '../../shared/ui/display/Markdown.tsx';
import { Empty, ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageError, PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { SignInButton } from '../account/SignInButton.tsx';
import { hub, type Template as TemplateObject, useBlocked, useUser } from '../api.ts';

export default function Template({ params }: PageProps<'/templates/:slug'>) {
  const { data: template, error, refetch } = useQuery(hub.read('getTemplate', { params }));
  const [isDeploying, setDeploying] = useState(false);
  if (codeOf(error) === 'not_found') return <Missing slug={params.slug} />;
  if (isUnavailable({ data: template, error })) return <PageError error={error} retry={refetch} />;
  if (!template) return <Loading text={t('Loading the template…')} />;
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Catalog'), href: '/' }]}
        title={template.name}
        beside={<span className="tag">{template.version}</span>}
        about={template.description}
        actions={
          <Button tone="primary" icon={Rocket} aria-haspopup="dialog" onClick={() => setDeploying(true)}>
            {t('Deploy in your fleet')}
          </Button>
        }
      />
      {error && <ErrorView error={error} retry={refetch} />}
      <div className="split">
        <Panel title={t('Documentation')}>
          {template.documentation ? (
            <Markdown title={template.name}>{template.documentation}</Markdown>
          ) : (
            <p className="muted">{t('The template has no documentation.')}</p>
          )}
        </Panel>
        <div className="stack">
          <Panel title={t('Requirements')}>
            <TemplateFacts template={template} />
          </Panel>
          {template.env_schema.length > 0 && (
            <Panel title={t('Variables')} flush>
              <TemplateVariables template={template} />
            </Panel>
          )}
          {template.tags.length > 0 && (
            <Panel title={t('Tags')}>
              <div className="row">
                {template.tags.map((tag) => (
                  <Link key={tag} className="tag" href={href('/', undefined, { tags: tag })}>
                    {tag}
                  </Link>
                ))}
              </div>
            </Panel>
          )}
        </div>
      </div>
      {isDeploying && <DeployDialog template={template} onClose={() => setDeploying(false)} />}
    </>
  );
}

const FLEET_KEY = 'fleet';

/** Opens the form of a fleet, whose address stays in this browser. */
function DeployDialog({ template, onClose }: { readonly template: TemplateObject; readonly onClose: () => void }) {
  const [address, setAddress] = useState(() => localStorage.getItem(FLEET_KEY) ?? '');
  const isAddress = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
  const path = `/deploy/${template.slug}`;
  const command = `curl -X POST "$FLEET_URL/api/v1/deployments" -H "Authorization: Bearer $FLEET_TOKEN" -H 'Content-Type: application/json' -d '{"name": "${template.slug}", "template": "${template.slug}"}'`;
  return (
    <Dialog title={t('Deploy {name}', { name: template.name })} onClose={onClose} wide>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isAddress) return;
          const { origin } = new URL(address);
          localStorage.setItem(FLEET_KEY, origin);
          open(`${origin}${path}`, '_blank', 'noopener');
          onClose();
        }}
      >
        <TextField
          label={t('Address of your fleet')}
          type="url"
          placeholder="https://fleet.example.com"
          hint={t('This browser remembers it. The fleet shows the template after its next sync.')}
          value={address}
          onChange={setAddress}
        />
        <CopyLine label={t('Or with the API of the fleet')} text={command} action={t('Copy command')} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button
            type="submit"
            tone="primary"
            icon={Rocket}
            blocked={isAddress ? undefined : t('Enter the address of your fleet.')}
          >
            {t('Open in the fleet')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/**
 * The response is the same for a template that does not exist and for one that the caller may not
 * see.
 */
function Missing({ slug }: { readonly slug: string }) {
  const user = useUser();
  const blocked = useBlocked();
  const [isRequesting, setRequesting] = useState(false);
  return (
    <>
      <Empty
        isPage
        icon={Lock}
        title={t('Not found, or not visible to you')}
        action={
          user ? (
            <Button blocked={blocked('requestAccess')} aria-haspopup="dialog" onClick={() => setRequesting(true)}>
              {t('Request access')}
            </Button>
          ) : (
            <SignInButton />
          )
        }
      >
        {t('There is no template {slug}, or it is in a private category that your organization cannot see.', { slug })}
      </Empty>
      {isRequesting && <RequestDialog slug={slug} onClose={() => setRequesting(false)} />}
    </>
  );
}

function RequestDialog({ slug, onClose }: { readonly slug: string; readonly onClose: () => void }) {
  const form = useForm({ reason: '' });
  const request = useMutation({
    ...hub.change('requestAccess'),
    onSuccess: () => {
      confirmChange(t('The request is sent to the administrators'));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('Request access to {slug}', { slug })}
      action={t('Send the request')}
      pending={request.isPending}
      error={request.error}
      shown={['reason']}
      onClose={onClose}
      onSubmit={() => request.mutate({ body: { template_slug: slug, reason: form.values.reason } })}
    >
      <TextAreaField
        {...form.bind('reason')}
        label={t('Why your organization needs it')}
        mono={false}
        error={form.errorsOf(request.error)('reason')}
      />
    </FormDialog>
  );
}
