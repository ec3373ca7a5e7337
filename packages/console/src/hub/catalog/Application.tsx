import { useQuery } from '@tanstack/react-query';
import { Lock } from 'lucide-react';
import { Link } from 'wouter';
import { codeOf, isUnavailable } from '../../shared/api/problem.ts';
import { referenceOf } from '../../shared/catalog/image-reference.ts';
import { TemplateStatus } from '../../shared/catalog/TemplateAdvice.tsx';
import { TemplateGlyph } from '../../shared/catalog/TemplateGlyph.tsx';
import { tierLabel } from '../../shared/catalog/tiers.ts';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { isolated, t } from '../../shared/texts/texts.ts';
import { Facts } from '../../shared/ui/display/Facts.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { Empty, ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { Markdown } from '../../shared/ui/markdown/Markdown.tsx';
import { PageError, PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { SignInButton } from '../account/SignInButton.tsx';
import { hub, type Application as Shown } from '../api.ts';

/** An application with its parts, and what a person enters to deploy it. */
export default function Application({ params }: PageProps<'/applications/:slug'>) {
  const { data: application, error, refetch } = useQuery(hub.read('getApplication', { params }));
  if (codeOf(error) === 'not_found') return <Missing slug={params.slug} />;
  if (isUnavailable({ data: application, error })) return <PageError error={error} retry={refetch} />;
  if (!application) return <Loading text={t('Loading the application…')} />;
  const { name, version, description, documentation, inputs, tags } = application;
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Applications'), href: '/applications' }]}
        title={name}
        before={<TemplateGlyph template={application} />}
        beside={
          <>
            <span className="tag">{version}</span>
            <TemplateStatus status={application.status} />
          </>
        }
        about={description}
      />
      {error && <ErrorView error={error} retry={refetch} />}
      {application.status_message !== '' && <Notice kind="warning" title={application.status_message} />}
      <div className="split">
        <div className="stack">
          <Panel title={t('Parts')} flush>
            <Parts parts={application.parts} />
          </Panel>
          <Panel title={t('Documentation')}>
            {documentation ? (
              <Markdown title={name}>{documentation}</Markdown>
            ) : (
              <p className="muted">{t('The application has no documentation.')}</p>
            )}
          </Panel>
        </div>
        <div className="stack">
          <Panel title={t('Requirements')}>
            <Facts
              facts={[
                [t('Category'), application.category_name],
                [t('Tier'), tierLabel(application.min_tier)],
                [t('Updated'), <Time key="updated" at={application.updated_at} />],
              ]}
            />
          </Panel>
          {inputs.length > 0 && (
            <Panel title={t('Values that you enter')}>
              <ul className="bullets">
                {inputs.map((input) => (
                  <li key={input.name}>
                    {input.label || input.name} {input.required && <span className="tag">{t('required')}</span>}
                  </li>
                ))}
              </ul>
            </Panel>
          )}
          {tags.length > 0 && (
            <Panel title={t('Tags')}>
              <div className="row">
                {tags.map((tag) => (
                  <Link key={tag} className="tag" href={href('/applications', undefined, { tags: tag })}>
                    {tag}
                  </Link>
                ))}
              </div>
            </Panel>
          )}
        </div>
      </div>
    </>
  );
}

const Parts = ({ parts }: { readonly parts: Shown['parts'] }) => (
  <Table
    label={t('Parts')}
    columns={[{ label: t('Name') }, { label: t('Image') }, { label: t('Published ports') }, { label: t('Needs') }]}
  >
    {parts.map((part) => (
      <tr key={part.name}>
        <th scope="row">{part.name}</th>
        <td>
          <code>{isolated(referenceOf(part))}</code>
        </td>
        <td>
          {part.ports
            .filter(({ publish }) => publish)
            .map(({ containerPort, protocol }) => `${containerPort}/${protocol}`)
            .join(', ') || t('none')}
        </td>
        <td className="muted">{part.needs.map((need) => need.part).join(', ')}</td>
      </tr>
    ))}
  </Table>
);

const Missing = ({ slug }: { readonly slug: string }) => (
  <Empty isPage icon={Lock} title={t('Not found, or not visible to you')} action={<SignInButton />}>
    {t('There is no application {slug}, or it is in a private category that your organization cannot see.', { slug })}
  </Empty>
);
